/*
 * scenario_dotnet.h - native memory of a .NET program, "dotnet".
 *
 * OrderService.exe handles DOTNET_REQUESTS requests. For each, its method Thumbnail.Create calls
 * imaging.dll, which leaks DOTNET_IMAGE_BYTES and frees DOTNET_BUFFER_BYTES. Each fourth request
 * leaks DOTNET_GLOBAL_BYTES that Cache.Add got from Marshal.AllocHGlobal. The heap of the garbage
 * collector is two commits of DOTNET_GC_BYTES by coreclr.dll, and does not grow. The rundown at the
 * end names the methods.
 */
#ifndef TESTS_SCENARIO_DOTNET_H
#define TESTS_SCENARIO_DOTNET_H

#include "scenario.h"

#define DOTNET_REQUESTS     200u
#define DOTNET_IMAGE_BYTES  16384u
#define DOTNET_BUFFER_BYTES 65536u
#define DOTNET_GLOBAL_BYTES 4096u
#define DOTNET_GC_BYTES     0x1000000u

void scenario_dotnet(const scenario_run *run, etl_build *b);

#endif
