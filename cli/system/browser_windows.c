/* browser_windows.c - see browser.h. */
#include "browser.h"

#include <windows.h>
#include <shellapi.h>

/* The address is ASCII. Values above 32 mean that it was opened (ShellExecuteW). */
bool cli_browser_open(const char *address)
{
    wchar_t wide[256];
    const int size = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, address, -1, wide, 256);
    return size > 0 && (INT_PTR)ShellExecuteW(NULL, L"open", wide, NULL, NULL, SW_SHOWNORMAL) > 32;
}
