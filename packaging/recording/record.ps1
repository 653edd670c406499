<#
.SYNOPSIS
    Records the heap blocks and VirtualAlloc of a program with wpr, and checks the recording for leaks with etlheap.

.DESCRIPTION
    record.ps1 enables heap events for the program, starts wpr with a profile of etlheap.wprp, runs the program, stops wpr,
    restores the program's setting, and runs etlheap check on the recording. Run it as administrator.

    The exit status is that of etlheap check, or that of the program if the check passed:
        0    within the limits
        1    a limit is exceeded, or nothing was measured
        2    the recording could not be made, or a mistake in the parameters
        3    the recording could not be read
        4    no verdict, because the recording lost events

.PARAMETER Program
    The program to run and to record.

.PARAMETER Arguments
    The program's arguments, as one text. Put a colon in front if the text begins with a dash: -Arguments:'--quick'.

.PARAMETER ProcessId
    Records a running process instead, for -Seconds, or until you press Enter. What it allocated before is not recorded.

.PARAMETER Image
    Names of the programs whose heap blocks are recorded, with commas between them, if they are not Program itself but
    programs that it starts.

.PARAMETER Output
    The recording. An existing file is kept, unless -Force is given.

.PARAMETER VirtualAlloc
    Records VirtualAlloc only: no heap blocks, much less data.

.PARAMETER FreeStacks
    Records the call stacks of frees, too: who frees memory (etlheap report --pairs).

.PARAMETER Ring
    Records into memory and keeps the latest events only, for programs that run long.

.PARAMETER Check
    Options of etlheap check, as one text. Put a colon in front, because the text begins with a dash. The default is
    -Check:'--max-outstanding stack:64K'

.PARAMETER NoCheck
    Only records.

.PARAMETER Seconds
    How long a running process is recorded.

.PARAMETER Force
    Replaces an existing recording.

.PARAMETER Etlheap
    The path of etlheap.exe. Without it, it is looked for in the folders above this script, and in PATH.

.PARAMETER Wpr
    The path of wpr.exe, if it is not that of Windows.

.EXAMPLE
    .\record.ps1 tests\unit.exe -Arguments:'--quick'

.EXAMPLE
    .\record.ps1 app.exe -Check:'--max-outstanding heap/total:1M --symbols out --junit leaks.xml'

.EXAMPLE
    .\record.ps1 -ProcessId 4321 -Seconds 60 -Output app.etl -NoCheck
#>
[CmdletBinding(DefaultParameterSetName = 'Program')]
param(
    [Parameter(ParameterSetName = 'Program', Mandatory = $true, Position = 0)]
    [string] $Program,

    [Parameter(ParameterSetName = 'Program')]
    [string] $Arguments = '',

    [Parameter(ParameterSetName = 'Program')]
    [string] $Image = '',

    [Parameter(ParameterSetName = 'Process', Mandatory = $true)]
    [int] $ProcessId,

    [Parameter(ParameterSetName = 'Process')]
    [int] $Seconds = 0,

    [string] $Output = 'app.etl',
    [switch] $VirtualAlloc,
    [switch] $FreeStacks,
    [switch] $Ring,
    [switch] $Force,
    [string] $Check = '--max-outstanding stack:64K',
    [switch] $NoCheck,
    [string] $Etlheap = '',
    [string] $Wpr = 'wpr.exe'
)

Set-StrictMode -Version 2
$ErrorActionPreference = 'Stop'

$failed = 2
$options = 'HKLM:\Software\Microsoft\Windows NT\CurrentVersion\Image File Execution Options'

# wpr says what went wrong itself, so a message only says what was tried.
function Invoke-Wpr([string[]] $Words) {
    & $Wpr @Words | Out-Host
    if ($LASTEXITCODE -ne 0) {
        throw "'$Wpr $Words' ended with status $LASTEXITCODE (is this an administrator prompt, and is nothing else recording?)"
    }
}

# The words of a text: quotes keep blanks.
function Get-Words([string] $Text) {
    return @([regex]::Matches($Text, '(?:"[^"]*"|[^\s"])+') | ForEach-Object { $_.Value -replace '"', '' })
}

# Whether heap events of a program are on. Processes read the value when they start.
function Test-HeapTracing([string] $Name) {
    $key = Get-ItemProperty -LiteralPath "$options\$Name" -ErrorAction SilentlyContinue
    return $null -ne $key -and $null -ne $key.PSObject.Properties['TracingFlags'] -and ($key.TracingFlags -band 1) -ne 0
}

# A copy of the profiles that records one running process. Programs that are enabled by name are recorded as well.
function New-ProcessProfile([string] $Path, [int] $Id) {
    $document = New-Object System.Xml.XmlDocument
    $document.Load($Path)
    $provider = $document.CreateElement('HeapEventProvider')
    $provider.SetAttribute('Id', 'EtlheapProcess')
    $process = $provider.AppendChild($document.CreateElement('HeapProcessIds')).AppendChild($document.CreateElement('HeapProcessId'))
    $process.SetAttribute('Value', [string] $Id)
    $profiles = $document.SelectSingleNode('/WindowsPerformanceRecorder/Profiles')
    [void] $profiles.InsertBefore($provider, $profiles.SelectSingleNode('Profile'))
    foreach ($collector in $document.SelectNodes('//HeapEventCollectorId')) {
        $list = $collector.AppendChild($document.CreateElement('HeapEventProviders'))
        $list.AppendChild($document.CreateElement('HeapEventProviderId')).SetAttribute('Value', 'EtlheapProcess')
    }
    $copy = Join-Path ([System.IO.Path]::GetTempPath()) "etlheap-$PID.wprp"
    $document.Save($copy)
    return $copy
}

function Start-Recording([string] $Profiles) {
    $name = if ($VirtualAlloc) { 'EtlheapVirtualAlloc' } else { 'EtlheapHeap' }
    $detail = if ($FreeStacks) { 'Verbose' } else { 'Light' }
    $words = @('-start', "$Profiles!$name.$detail")
    if (-not $Ring) {
        $words += '-filemode'
    }
    Invoke-Wpr $words
}

# The program's exit status, or 0 if a running process was recorded.
function Wait-Program {
    if ($ProcessId -ne 0) {
        if ($Seconds -gt 0) {
            Start-Sleep -Seconds $Seconds
        } else {
            [void] (Read-Host "Recording process $ProcessId. Press Enter to stop")
        }
        return 0
    }
    $start = @{ FilePath = $Program; NoNewWindow = $true; PassThru = $true; Wait = $true }
    if ($Arguments -ne '') {
        $start.ArgumentList = $Arguments
    }
    return (Start-Process @start).ExitCode
}

# The program's exit status. Whatever happens, wpr is stopped and the programs' settings are what they were.
function Save-Recording([string[]] $Names) {
    $enabled = @()
    $recording = $false
    $profiles = Join-Path $PSScriptRoot 'etlheap.wprp'
    $copy = $null
    try {
        if (-not $VirtualAlloc -and $ProcessId -ne 0) {
            $copy = New-ProcessProfile $profiles $ProcessId
            $profiles = $copy
        } elseif (-not $VirtualAlloc) {
            foreach ($name in $Names) {
                if (-not (Test-HeapTracing $name)) {
                    Invoke-Wpr @('-heaptracingconfig', $name, 'enable')
                    $enabled += $name
                }
            }
        }
        Start-Recording $profiles
        $recording = $true
        $status = Wait-Program
        Remove-Item -LiteralPath $Output -ErrorAction SilentlyContinue
        Invoke-Wpr @('-stop', $Output)
        $recording = $false
        return $status
    } finally {
        if ($recording) {
            & $Wpr '-cancel' | Out-Host
        }
        foreach ($name in $enabled) {
            & $Wpr '-heaptracingconfig' $name 'disable' | Out-Host
        }
        if ($null -ne $copy) {
            Remove-Item -LiteralPath $copy -ErrorAction SilentlyContinue
        }
    }
}

# etlheap.exe in a folder above this script, as in the zip, else from PATH.
function Find-Etlheap {
    if ($Etlheap -ne '') {
        return $Etlheap
    }
    for ($folder = $PSScriptRoot; $folder; $folder = Split-Path -Parent $folder) {
        $path = Join-Path $folder 'etlheap.exe'
        if (Test-Path -LiteralPath $path) {
            return $path
        }
    }
    return 'etlheap.exe'
}

# Said before the recording, which may take an hour.
function Assert-Etlheap {
    if (-not (Get-Command -Name (Find-Etlheap) -CommandType Application -ErrorAction SilentlyContinue)) {
        throw 'etlheap.exe was not found; name it with -Etlheap, or only record with -NoCheck'
    }
}

function Test-Recording([string[]] $Names) {
    $limits = Get-Words $Check
    $words = @('check', $Output)
    if ($limits -notcontains '--process') {
        $words += @('--process', $(if ($ProcessId -ne 0) { [string] $ProcessId } else { $Names -join ',' }))
    }
    $words += $limits
    & (Find-Etlheap) @words | Out-Host
    return $LASTEXITCODE
}

try {
    if ((Test-Path -LiteralPath $Output) -and -not $Force) {
        throw "$Output exists; -Force replaces it"
    }
    if (-not $NoCheck) {
        Assert-Etlheap
    }
    $names = @()
    if ($ProcessId -eq 0) {
        $given = if ($Image -ne '') { $Image -split ',' } else { Split-Path -Leaf $Program }
        $names = @($given | ForEach-Object { if ([System.IO.Path]::HasExtension($_)) { $_ } else { "$_.exe" } })
    }
    $ran = Save-Recording $names
    if ($ran -ne 0) {
        [Console]::Error.WriteLine("record: $Program ended with status $ran")
    }
    $verdict = if ($NoCheck) { 0 } else { Test-Recording $names }
} catch {
    [Console]::Error.WriteLine("record: $($_.Exception.Message)")
    exit $failed
}
if ($verdict -ne 0) {
    exit $verdict
}
exit $ran
