@echo off
rem Runs record.ps1, with the same parameters and exit status, from cmd or a build server that calls programs.
powershell -NoProfile -ExecutionPolicy Bypass -File "%~dp0record.ps1" %*
exit /b %ERRORLEVEL%
