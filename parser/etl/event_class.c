/*
 * event_class.c - maps GUIDs of classes and providers to what we know about them.
 *
 * In: a GUID of a record. Out: the class, whose classic events decode like kernel hooks of the same
 * type, or the name of a provider.
 *
 * One table, sorted by the first number of the GUID and searched by halving. It holds the kernel's
 * classes, the classes that merges inject, and common providers of which only the name is known.
 * Invariant: rows must stay sorted by that number.
 */
#include "event_class.h"

static u32 guid_data1(const etl_guid *guid);

/*
 * A GUID as it is written, 01853a65-418f-4f36-aefc-dc0f1d2fd235, to its bytes in
 * the file: three little-endian numbers, then eight bytes in order.
 */
#define BYTE(value, shift) (u8)((u64)(value) >> (shift)&0xff)
#define GUID(a, b, c, d, e)                                                                        \
    {                                                                                              \
        {                                                                                          \
            BYTE(a, 0), BYTE(a, 8), BYTE(a, 16), BYTE(a, 24), BYTE(b, 0), BYTE(b, 8), BYTE(c, 0),  \
                BYTE(c, 8), BYTE(d, 8), BYTE(d, 0), BYTE(e, 40), BYTE(e, 32), BYTE(e, 24),         \
                BYTE(e, 16), BYTE(e, 8), BYTE(e, 0)                                                \
        }                                                                                          \
    }

/* Source: System Informer's ntwmi.h and PerfView's parsers, which agree on the
 * kernel classes; the injected ones also seen in merged traces. Providers without a
 * class: `logman query providers` of Windows 10, as published in 0xrawsec/whids. */
static const etl_class_row classes[] = {
    { GUID(0x0063715b, 0xeeda, 0x4007, 0x9429, 0xad526f62696e), ETL_CLASS_NONE,
      "Microsoft-Windows-Services" },
    { GUID(0x01853a65, 0x418f, 0x4f36, 0xaefc, 0xdc0f1d2fd235), ETL_CLASS_CONFIG, "SystemConfig" },
    { GUID(0x0268a8b6, 0x74fd, 0x4302, 0x9dd0, 0x6e8f1795c0cf), ETL_CLASS_POOL, "Pool" },
    { GUID(0x030f2f57, 0xabd0, 0x4427, 0xbcf1, 0x3a3587d7dc7d), ETL_CLASS_NONE,
      "Microsoft-Windows-Diagnostics-PerfTrack" },
    { GUID(0x05867806, 0xc246, 0x43ef, 0xa147, 0xe17d2bdb1496), ETL_CLASS_NONE, "HeapSummary" },
    { GUID(0x06184c97, 0x5201, 0x480e, 0x92af, 0x3a3626c5b140), ETL_CLASS_NONE,
      "Microsoft-Windows-Services-Svchost" },
    { GUID(0x0a002690, 0x3839, 0x4e3a, 0xb3b6, 0x96d8df868d99), ETL_CLASS_NONE,
      "Microsoft-Antimalware-Engine" },
    { GUID(0x0bf2fb94, 0x7b60, 0x4b4d, 0x9766, 0xe82f658df540), ETL_CLASS_NONE,
      "Microsoft-Windows-Kernel-ShimEngine" },
    { GUID(0x0f67e49f, 0xfe51, 0x4e9f, 0xb490, 0x6f2948cc6027), ETL_CLASS_NONE,
      "Microsoft-Windows-Kernel-Processor-Power" },
    { GUID(0x138f4dbb, 0xee04, 0x4899, 0xaa0a, 0x572ad4475779), ETL_CLASS_NONE,
      "microsoft-windows-mimalloc" },
    { GUID(0x13976d09, 0xa327, 0x438c, 0x950b, 0x7f03192815c7), ETL_CLASS_DEBUG_PRINT, "DbgPrint" },
    { GUID(0x1418ef04, 0xb0b4, 0x4623, 0xbf7e, 0xd74ab47bbdaa), ETL_CLASS_NONE,
      "Microsoft-Windows-WMI-Activity" },
    { GUID(0x15ca44ff, 0x4d7a, 0x4baa, 0xbba5, 0x0998955e531e), ETL_CLASS_NONE,
      "Microsoft-Windows-Kernel-Boot" },
    { GUID(0x1edeee53, 0x0afe, 0x4609, 0xb846, 0xd8c0b2075b1f), ETL_CLASS_NONE,
      "Microsoft-Windows-WMI" },
    { GUID(0x206f6dea, 0xd3c5, 0x4d10, 0xbc72, 0x989f03c8b84b), ETL_CLASS_NONE,
      "Microsoft-Windows-Wininit" },
    { GUID(0x222962ab, 0x6180, 0x4b88, 0xa825, 0x346b75f2a24a), ETL_CLASS_HEAP, "Heap" },
    { GUID(0x22fb2cd6, 0x0e7b, 0x422b, 0xa0c7, 0x2fad1fd0e716), ETL_CLASS_NONE,
      "Microsoft-Windows-Kernel-Process" },
    { GUID(0x28ad2447, 0x105b, 0x4fe2, 0x9599, 0xe59b2aa9a634), ETL_CLASS_NONE,
      "KernelTraceControl" },
    { GUID(0x292a52c4, 0xfa27, 0x4461, 0xb526, 0x54a46430bd54), ETL_CLASS_NONE,
      "Microsoft-Windows-Dwm-Api" },
    { GUID(0x2a274310, 0x42d5, 0x4019, 0xb816, 0xe4b8c7abe95c), ETL_CLASS_NONE,
      "Microsoft-Windows-ReadyBoostDriver" },
    { GUID(0x2a576b87, 0x09a7, 0x520e, 0xc21a, 0x4942f0271d67), ETL_CLASS_NONE,
      "Microsoft-Antimalware-Scan-Interface" },
    { GUID(0x2cb15d1d, 0x5fc1, 0x11d2, 0xabe1, 0x00a0c911f518), ETL_CLASS_IMAGE, "Image" },
    { GUID(0x2ce9a149, 0xeffe, 0x42f0, 0xa635, 0xa1d39e26c8f2), ETL_CLASS_HYPERVISORX,
      "HypervisorX" },
    { GUID(0x2ed6006e, 0x4729, 0x4609, 0xb423, 0x3ee7bcd678ef), ETL_CLASS_NONE,
      "Microsoft-Windows-NDIS-PacketCapture" },
    { GUID(0x2ff3e6b7, 0xcb90, 0x4700, 0x9621, 0x443f389734ed), ETL_CLASS_NONE,
      "Microsoft-Windows-Kernel-WDI" },
    { GUID(0x30336ed4, 0xe327, 0x447c, 0x9de0, 0x51b652c86108), ETL_CLASS_NONE,
      "Microsoft-Windows-Shell-Core" },
    { GUID(0x315a8872, 0x923e, 0x4ea2, 0x9889, 0x33cd4754bf64), ETL_CLASS_NONE,
      "Microsoft-Windows-Immersive-Shell" },
    { GUID(0x3282fc76, 0xfeed, 0x498e, 0x8aa7, 0xe70f459d430e), ETL_CLASS_JOB, "Job" },
    { GUID(0x331c3b3a, 0x2005, 0x44c2, 0xac5e, 0x77220c37d6b4), ETL_CLASS_NONE,
      "Microsoft-Windows-Kernel-Power" },
    { GUID(0x3ac66736, 0xcc59, 0x4cff, 0x8115, 0x8df50e39816b), ETL_CLASS_CRITSEC, "CritSec" },
    { GUID(0x3d6fa8d0, 0xfe05, 0x11d0, 0x9dda, 0x00c04fd7ba7c), ETL_CLASS_PROCESS, "Process" },
    { GUID(0x3d6fa8d1, 0xfe05, 0x11d0, 0x9dda, 0x00c04fd7ba7c), ETL_CLASS_THREAD, "Thread" },
    { GUID(0x3d6fa8d3, 0xfe05, 0x11d0, 0x9dda, 0x00c04fd7ba7c), ETL_CLASS_MEMORY, "PageFault" },
    { GUID(0x3d6fa8d4, 0xfe05, 0x11d0, 0x9dda, 0x00c04fd7ba7c), ETL_CLASS_DISK_IO, "DiskIo" },
    { GUID(0x422088e6, 0xcd0c, 0x4f99, 0xbd0b, 0x6985fa290bdf), ETL_CLASS_NONE,
      "Microsoft-Windows-UxTheme" },
    { GUID(0x42695762, 0xea50, 0x497a, 0x9068, 0x5cbbb35e0b95), ETL_CLASS_WNF, "Wnf" },
    { GUID(0x43d1a55c, 0x76d6, 0x4f7e, 0x995c, 0x64c711e5cafe), ETL_CLASS_NONE,
      "Microsoft-Windows-WinINet" },
    { GUID(0x45d8cccd, 0x539f, 0x4b72, 0xa8b7, 0x5c683142609a), ETL_CLASS_ALPC, "ALPC" },
    { GUID(0x478ea8a8, 0x00be, 0x4ba6, 0x8e75, 0x8b9dc7db9f78), ETL_CLASS_NONE,
      "Microsoft-Windows-ESE" },
    { GUID(0x49c2c27c, 0xfe2d, 0x40bf, 0x8c4e, 0xc3fb518037e7), ETL_CLASS_NONE,
      "Microsoft-Windows-Search-Core" },
    { GUID(0x4cec9c95, 0xa65f, 0x4591, 0xb5c4, 0x30100e51d870), ETL_CLASS_NONE,
      "Microsoft-Windows-Kernel-Tm" },
    { GUID(0x4d4f80d9, 0xc8bd, 0x4d73, 0xbb5b, 0x19c90402c5ac), ETL_CLASS_NONE,
      "Microsoft-Windows-PktMon" },
    { GUID(0x50b3e73c, 0x9370, 0x461d, 0xbb9f, 0x26f32d68887d), ETL_CLASS_NONE,
      "Microsoft-Windows-WebIO" },
    { GUID(0x52fc89f8, 0x995e, 0x434c, 0xa91e, 0x199986449890), ETL_CLASS_NONE,
      "Microsoft-Windows-Hyper-V-Hypervisor" },
    { GUID(0x531a35ab, 0x63ce, 0x4bcf, 0xaa98, 0xf88c7a89e455), ETL_CLASS_NONE,
      "Microsoft-Windows-XAML" },
    { GUID(0x5322d61a, 0x9efa, 0x4bc3, 0xa3f9, 0x14be95c144f8), ETL_CLASS_NONE,
      "Microsoft-Windows-Kernel-Prefetch" },
    { GUID(0x54849625, 0x5478, 0x4994, 0xa5ba, 0x3e3b0328c30d), ETL_CLASS_NONE,
      "Microsoft-Windows-Security-Auditing" },
    { GUID(0x55404e71, 0x4db9, 0x4deb, 0xa5f5, 0x8f86e46dde56), ETL_CLASS_NONE,
      "Microsoft-Windows-Winsock-NameResolution" },
    { GUID(0x57277741, 0x3638, 0x4a4b, 0xbdba, 0x0ac6e45da56c), ETL_CLASS_NONE,
      "Microsoft-JScript" },
    { GUID(0x5786e035, 0xef2d, 0x4178, 0x84f2, 0x5a6bbedbb947), ETL_CLASS_NONE,
      "Microsoft-Windows-DirectManipulation" },
    { GUID(0x59e7a714, 0x73a4, 0x4147, 0xb47e, 0x0957048c75c4), ETL_CLASS_NONE,
      "Microsoft-Windows-XAML-Diagnostics" },
    { GUID(0x5d8087dd, 0x3a9b, 0x4f56, 0x90df, 0x49196cdc4f11), ETL_CLASS_NONE,
      "Microsoft-Windows-Direct3D12" },
    { GUID(0x5f0e257f, 0xc224, 0x43e5, 0x9555, 0x2adcb8540a58), ETL_CLASS_NONE,
      "Microsoft-Windows-Immersive-Shell-API" },
    { GUID(0x63d1e632, 0x95cc, 0x4443, 0x9312, 0xaf927761d52a), ETL_CLASS_NONE,
      "Microsoft-Windows-HAL" },
    { GUID(0x68fdd900, 0x4a3e, 0x11d1, 0x84f4, 0x0000f80464e3), ETL_CLASS_HEADER, "EventTrace" },
    { GUID(0x6a399ae0, 0x4bc6, 0x4de9, 0x870b, 0x3657f8947e7e), ETL_CLASS_LOST_EVENT,
      "Lost_Event" },
    { GUID(0x6ad52b32, 0xd609, 0x4be9, 0xae07, 0xce8dae937e39), ETL_CLASS_NONE,
      "Microsoft-Windows-RPC" },
    { GUID(0x6b93bf66, 0xa922, 0x4c11, 0xa617, 0xcf60d95c133d), ETL_CLASS_NONE,
      "Microsoft-Windows-Fault-Tolerant-Heap" },
    { GUID(0x70eb4f03, 0xc1de, 0x4f73, 0xa051, 0x33d13d5413bd), ETL_CLASS_NONE,
      "Microsoft-Windows-Kernel-Registry" },
    { GUID(0x751ef305, 0x6c6e, 0x4fed, 0xb847, 0x02ef79d26aef), ETL_CLASS_NONE,
      "Microsoft-Antimalware-Service" },
    { GUID(0x763fd754, 0x7086, 0x4dfe, 0x95eb, 0xc01a46faf4ca), ETL_CLASS_NONE,
      "Microsoft-Windows-DotNETRuntimePrivate" },
    { GUID(0x7687a439, 0xf752, 0x45b8, 0xb741, 0x321aec0f8df9), ETL_CLASS_CACHE, "Cc" },
    { GUID(0x7b563579, 0x53c8, 0x44e7, 0x8236, 0x0f87b9fe6594), ETL_CLASS_NONE,
      "Microsoft-Windows-Kernel-WHEA" },
    { GUID(0x7d44233d, 0x3055, 0x4b9c, 0xba64, 0x0d47ca40a232), ETL_CLASS_NONE,
      "Microsoft-Windows-WinHttp" },
    { GUID(0x7dd42a49, 0x5329, 0x4832, 0x8dfd, 0x43d979153a88), ETL_CLASS_NONE,
      "Microsoft-Windows-Kernel-Network" },
    { GUID(0x7f2a405c, 0x69b5, 0x4bf9, 0xa1f5, 0x30e8f1afab5e), ETL_CLASS_HYPERVISOR,
      "Hypervisor" },
    { GUID(0x7f8e35ca, 0x68e8, 0x41b9, 0x86fe, 0xd6adc5b327e7), ETL_CLASS_NONE,
      "Microsoft-IE-JSDumpHeap" },
    { GUID(0x802ec45a, 0x1e99, 0x4b83, 0x9920, 0x87c98277ba9d), ETL_CLASS_NONE,
      "Microsoft-Windows-DxgKrnl" },
    { GUID(0x8819ca17, 0x7faa, 0x4184, 0xafb7, 0xa4120ca793cd), ETL_CLASS_NONE,
      "Microsoft-Graphics-Tools-PixMarkers" },
    { GUID(0x89497f50, 0xeffe, 0x4440, 0x8cf2, 0xce6b1cdcaca7), ETL_CLASS_OBJECT, "Object" },
    { GUID(0x8c416c79, 0xd49b, 0x4f01, 0xa467, 0xe56d3aa8234c), ETL_CLASS_NONE,
      "Microsoft-Windows-Win32k" },
    { GUID(0x8e92deef, 0x5e17, 0x413b, 0xb927, 0x59b2f06a3cfc), ETL_CLASS_NONE,
      "Microsoft-Antimalware-RTP" },
    { GUID(0x8f2048e0, 0xf260, 0x4f57, 0xa8d1, 0x932376291682), ETL_CLASS_NONE,
      "Microsoft-Windows-MediaEngine" },
    { GUID(0x901d2afa, 0x4ff6, 0x46d7, 0x8d0e, 0x53645e1a47f5), ETL_CLASS_NONE,
      "Microsoft-Windows-Heap-Snapshot" },
    { GUID(0x90cbdc39, 0x4a3e, 0x11d1, 0x84f4, 0x0000f80464e3), ETL_CLASS_FILE, "FileIo" },
    { GUID(0x945a8954, 0xc147, 0x4acd, 0x923f, 0x40c45405a658), ETL_CLASS_NONE,
      "Microsoft-Windows-WindowsUpdateClient" },
    { GUID(0x988c59c5, 0x0a1c, 0x45b6, 0xa555, 0x0c62276e327d), ETL_CLASS_NONE,
      "Microsoft-Windows-SMBClient" },
    { GUID(0x99134383, 0x5248, 0x43fc, 0x834b, 0x529454e75df3), ETL_CLASS_SPARE1, "Lbr" },
    { GUID(0x9988748e, 0xc2e8, 0x4054, 0x85f6, 0x0c3e1cad2470), ETL_CLASS_NONE,
      "Microsoft-Windows-Resource-Exhaustion-Detector" },
    { GUID(0x9a280ac0, 0xc8e0, 0x11d1, 0x84e2, 0x00c04fb998a2), ETL_CLASS_TCPIP, "TcpIp" },
    { GUID(0x9aec974b, 0x5b8e, 0x4118, 0x9b92, 0x3186d8002ce5), ETL_CLASS_UMS, "Ums" },
    { GUID(0x9b79ee91, 0xb5fd, 0x41c0, 0xa243, 0x4248e266e9d0), ETL_CLASS_SYSCONFIG_EX,
      "SysConfigEx" },
    { GUID(0x9b7e4c0f, 0x342c, 0x4106, 0xa19f, 0x4f2704f689f0), ETL_CLASS_NONE,
      "Microsoft-Windows-Direct3D10" },
    { GUID(0x9b7e4c8f, 0x342c, 0x4106, 0xa19f, 0x4f2704f689f0), ETL_CLASS_NONE,
      "Microsoft-Windows-Direct3D10_1" },
    { GUID(0x9c205a39, 0x1250, 0x487d, 0xabd7, 0xe831c6290539), ETL_CLASS_NONE,
      "Microsoft-Windows-Kernel-PnP" },
    { GUID(0x9d55b53d, 0x449b, 0x4824, 0xa637, 0x24f9d69aa02f), ETL_CLASS_NONE,
      "Microsoft-Windows-Winsrv" },
    { GUID(0x9e3b3947, 0xca5d, 0x4614, 0x91a2, 0x7b624e0e7244), ETL_CLASS_NONE, "Microsoft-IE" },
    { GUID(0x9e814aad, 0x3204, 0x11d2, 0x9a82, 0x006008a86939), ETL_CLASS_NONE,
      "Windows Kernel Trace" },
    { GUID(0x9e9bba3c, 0x2e38, 0x40cb, 0x99f4, 0x9e8281425164), ETL_CLASS_NONE,
      "Microsoft-Windows-Dwm-Core" },
    { GUID(0xa103cabd, 0x8242, 0x4a93, 0x8df5, 0x1cdf3b3f26a6), ETL_CLASS_NONE,
      "Microsoft-Windows-Kernel-IoTrace" },
    { GUID(0xa2d1c713, 0x093b, 0x43a7, 0xb445, 0xd09370ec9f47), ETL_CLASS_NONE,
      "Microsoft-Windows-Dwm-Udwm" },
    { GUID(0xa319d300, 0x015c, 0x48be, 0xacdb, 0x47746e154751), ETL_CLASS_NONE,
      "Microsoft-Windows-FileInfoMinifilter" },
    { GUID(0xa669021c, 0xc450, 0x4609, 0xa035, 0x5af59af4df18), ETL_CLASS_DOTNET_RUNDOWN,
      "Microsoft-Windows-DotNETRuntimeRundown" },
    { GUID(0xa68ca8b7, 0x004f, 0xd7b6, 0xa698, 0x07e2de0f1f5d), ETL_CLASS_NONE,
      "Microsoft-Windows-Kernel-General" },
    { GUID(0xa6ad76e3, 0x867a, 0x4635, 0x91b3, 0x4904ba6374d7), ETL_CLASS_NONE,
      "Microsoft-Windows-Kernel-StoreMgr" },
    { GUID(0xa7364e1a, 0x894f, 0x4b3d, 0xa930, 0x2ed9c8c4c811), ETL_CLASS_NONE,
      "Microsoft-Windows-MF" },
    { GUID(0xa9152f00, 0x3f58, 0x4bee, 0x92a1, 0x70c7d079d5dd), ETL_CLASS_MODBOUND, "ModBound" },
    { GUID(0xabf1f586, 0x2e50, 0x4ba8, 0x928d, 0x49044e6f0db7), ETL_CLASS_NONE,
      "Microsoft-Windows-Kernel-IO" },
    { GUID(0xae53722e, 0xc863, 0x11d2, 0x8659, 0x00c04fa321a1), ETL_CLASS_REGISTRY, "Registry" },
    { GUID(0xb2d14872, 0x7c5b, 0x463d, 0x8419, 0xee9bf7d23e04), ETL_CLASS_DPC, "DPC" },
    { GUID(0xb3e675d7, 0x2554, 0x4f18, 0x830b, 0x2762732560de), ETL_CLASS_IMAGE_ID, "ImageID" },
    { GUID(0xb675ec37, 0xbdb6, 0x4648, 0xbc92, 0xf3fdc74d3ca2), ETL_CLASS_NONE,
      "Microsoft-Windows-Kernel-EventTracing" },
    { GUID(0xbbccf6c1, 0x6cd1, 0x48c4, 0x80ff, 0x839482e37671), ETL_CLASS_METADATA, "MetaData" },
    { GUID(0xbef2aa8e, 0x81cd, 0x11e2, 0xa7bb, 0x5eac6188709b), ETL_CLASS_NONE,
      "Microsoft-Windows-Kernel-LiveDump" },
    { GUID(0xbf3a50c5, 0xa9c9, 0x4988, 0xa005, 0x2df0b7c80f80), ETL_CLASS_UDPIP, "UdpIp" },
    { GUID(0xbf6ef1cb, 0x89b5, 0x0490, 0x80ac, 0xb180cfbcff0f), ETL_CLASS_PERFTRACK, "PerfTrack" },
    { GUID(0xbff15e13, 0x81bf, 0x45ee, 0x8b16, 0x7cfead00da86), ETL_CLASS_NONE,
      "Microsoft-Windows-AppModel-State" },
    { GUID(0xc06ed57a, 0xa7bd, 0x42d7, 0xb5ff, 0x77a9dec5732d), ETL_CLASS_NONE,
      "Microsoft-Windows-Diagnostics-PerfTrack-Counters" },
    { GUID(0xc44219d0, 0xf344, 0x11df, 0xa5e2, 0xb307dfd72085), ETL_CLASS_NONE,
      "Microsoft-Windows-DirectComposition" },
    { GUID(0xc4636a1e, 0x7986, 0x4646, 0xbf10, 0x7bc3b4a76e8e), ETL_CLASS_NONE,
      "Microsoft-Windows-StorPort" },
    { GUID(0xc514638f, 0x7723, 0x485b, 0xbcfc, 0x96565d735d4a), ETL_CLASS_NONE,
      "Microsoft-Windows-Kernel-Acpi" },
    { GUID(0xc7bde69a, 0xe1e0, 0x4177, 0xb6ef, 0x283ad1525271), ETL_CLASS_NONE,
      "Microsoft-Windows-Kernel-Disk" },
    { GUID(0xc861d0e2, 0xa2c1, 0x4d36, 0x9f9c, 0x970bab943a12), ETL_CLASS_THREAD_POOL,
      "ThreadPool" },
    { GUID(0xca4e628d, 0x8567, 0x4896, 0xab6b, 0x835b221f373f), ETL_CLASS_NONE,
      "Microsoft-Windows-Search" },
    { GUID(0xcd9c6198, 0xbf73, 0x4106, 0x803b, 0xc17d26559018), ETL_CLASS_NONE,
      "Microsoft-Windows-ReFS" },
    { GUID(0xcdead503, 0x17f5, 0x4a3e, 0xb7ae, 0xdf8cc2902eb9), ETL_CLASS_NONE,
      "Microsoft-Windows-NDIS" },
    { GUID(0xce1dbfb4, 0x137e, 0x4da6, 0x87b0, 0x3f59aa102cbc), ETL_CLASS_PERFINFO, "PerfInfo" },
    { GUID(0xcfc18ec0, 0x96b1, 0x4eba, 0x961b, 0x622caee05b0a), ETL_CLASS_NONE,
      "Microsoft-Windows-Diagnostics-Performance" },
    { GUID(0xcfeb0608, 0x330e, 0x4410, 0xb00d, 0x56d8da9986e6), ETL_CLASS_NONE,
      "Microsoft-Antimalware-AMFilter" },
    { GUID(0xd1d93ef7, 0xe1f2, 0x4f45, 0x9943, 0x03d245fe6c00), ETL_CLASS_KERNEL_MEMORY,
      "Microsoft-Windows-Kernel-Memory" },
    { GUID(0xd29d56ea, 0x4867, 0x4221, 0xb02e, 0xcfd998834075), ETL_CLASS_NONE,
      "Microsoft-Windows-Dwm-Dwm" },
    { GUID(0xd48ce617, 0x33a2, 0x4bc3, 0xa5c7, 0x11aa4f29619e), ETL_CLASS_NONE,
      "Microsoft-Windows-SMBServer" },
    { GUID(0xd781ca11, 0x61c0, 0x4387, 0xb83d, 0xaf52d3d2dd6a), ETL_CLASS_MEMORY, "HeapRange" },
    { GUID(0xd837ca92, 0x12b9, 0x44a5, 0xad6a, 0x3a65b3578aa8), ETL_CLASS_SPLIT_IO, "SplitIo" },
    { GUID(0xd8975f88, 0x7ddb, 0x4ed0, 0x91bf, 0x3adf48c48e0c), ETL_CLASS_NONE,
      "Microsoft-Windows-RPCSS" },
    { GUID(0xdb6f6ddb, 0xac77, 0x4e88, 0x8253, 0x819df9bbf140), ETL_CLASS_NONE,
      "Microsoft-Windows-Direct3D11" },
    { GUID(0xdbe9b383, 0x7cf3, 0x4331, 0x91cc, 0xa3cb16a3b538), ETL_CLASS_NONE,
      "Microsoft-Windows-Winlogon" },
    { GUID(0xdd5ef90a, 0x6398, 0x47a4, 0xad34, 0x4dcecdef795f), ETL_CLASS_NONE,
      "Microsoft-Windows-HttpService" },
    { GUID(0xdef2fe46, 0x7bd6, 0x4b80, 0xbd94, 0xf57fe20d0ce3), ETL_CLASS_STACKWALK, "StackWalk" },
    { GUID(0xe02a841c, 0x75a3, 0x4fa7, 0xafc8, 0xae09cf9b7f23), ETL_CLASS_NONE,
      "Microsoft-Windows-Kernel-Audit-API-Calls" },
    { GUID(0xe13c0d23, 0xccbc, 0x4e12, 0x931b, 0xd9cc2eee27e4), ETL_CLASS_DOTNET,
      "Microsoft-Windows-DotNETRuntime" },
    { GUID(0xe43445e0, 0x0903, 0x48c3, 0xb878, 0xff0fccebdd04), ETL_CLASS_POWER, "Power" },
    { GUID(0xe4b70372, 0x261f, 0x4c54, 0x8fa6, 0xa5a7914d73da), ETL_CLASS_NONE,
      "Microsoft-Antimalware-Protection" },
    { GUID(0xe53c6823, 0x7bb8, 0x44bb, 0x90dc, 0x3f86090d48a6), ETL_CLASS_NONE,
      "Microsoft-Windows-Winsock-AFD" },
    { GUID(0xe6307a09, 0x292c, 0x497e, 0xaad6, 0x498f68e2b619), ETL_CLASS_NONE,
      "Microsoft-Windows-ReadyBoost" },
    { GUID(0xeb65a492, 0x86c0, 0x406a, 0xbace, 0x9912d595bd69), ETL_CLASS_NONE,
      "Microsoft-Windows-AppModel-Exec" },
    { GUID(0xed54dff8, 0xc409, 0x4cf6, 0xbf83, 0x05e1e61a09c4), ETL_CLASS_WINSAT, "WinSat" },
    { GUID(0xedd08927, 0x9cc4, 0x4e65, 0xb970, 0xc2560fb5c289), ETL_CLASS_NONE,
      "Microsoft-Windows-Kernel-File" },
    { GUID(0xf1ef270a, 0x0d32, 0x4352, 0xba52, 0xdbab41e1d859), ETL_CLASS_NONE,
      "Microsoft-Windows-AppModel-Runtime" },
    { GUID(0xf3c5e28e, 0x63f6, 0x49c7, 0xa204, 0xe48a1bc4b09d), ETL_CLASS_NONE,
      "Microsoft-Windows-FilterManager" },
    { GUID(0xf404b94e, 0x27e0, 0x4384, 0xbfe8, 0x1d8d390b0aa3), ETL_CLASS_NONE,
      "Microsoft-Windows-MediaFoundation-Performance" },
    { GUID(0xfae10392, 0xf0af, 0x4ac0, 0xb8ff, 0x9f4d920c3cdf), ETL_CLASS_NONE,
      "Microsoft-Windows-Security-Mitigations" },
};

const etl_class_row *etl_class_of_guid(const u8 *guid)
{
    const u32 wanted = etl_load_u32(guid);
    size_t row;
    ETL_BISECT(row, 0, ETL_COUNT_OF(classes), guid_data1(&classes[row].guid) < wanted);
    for (; row < ETL_COUNT_OF(classes) && guid_data1(&classes[row].guid) == wanted; row++) {
        if (memcmp(classes[row].guid.bytes, guid, sizeof classes[row].guid.bytes) == 0)
            return &classes[row];
    }
    return NULL;
}

size_t etl_class_row_count(void)
{
    return ETL_COUNT_OF(classes);
}

const etl_class_row *etl_class_row_at(size_t index)
{
    return &classes[index];
}

u16 etl_guid_record_key(const etl_record *record)
{
    const bool is_classic = etl_record_is_classic(record);
    const bool is_manifest =
        record->header == ETL_HEADER_EVENT32 || record->header == ETL_HEADER_EVENT64;
    if ((!is_classic && !is_manifest) || record->provider == NULL)
        return ETL_KEY_NONE;
    const etl_class_row *const row = etl_class_of_guid(record->provider);
    if (row == NULL || row->class_number == ETL_CLASS_NONE ||
        is_manifest != (row->class_number >= ETL_CLASS_PROVIDERS))
        return ETL_KEY_NONE;
    if (is_manifest && record->id > UINT8_MAX)
        return ETL_KEY_NONE;
    if (is_manifest)
        return (u16)(row->class_number << 8 | record->id);
    const u16 key = (u16)(row->class_number << 8 | record->opcode);
    return key == ETL_HOOK_IMAGE_LOAD_CLASS ? (u16)ETL_HOOK_IMAGE_LOAD : key;
}

/* Spares events of manifests, which have neither, the search for their provider. */
static u16 classic_key(const etl_record *record)
{
    return etl_record_is_classic(record) ? etl_guid_record_key(record) : ETL_KEY_NONE;
}

bool etl_record_hook(const etl_record *record, u16 *hook)
{
    const u16 key = record->has_hook ? record->hook : classic_key(record);
    if (!record->has_hook && key >> 8 >= ETL_CLASS_HOOK_COUNT)
        return false;
    *hook = key;
    return true;
}

bool etl_record_is_injected(const etl_record *record)
{
    if (record->has_hook)
        return false;
    const unsigned class_number = classic_key(record) >> 8;
    return class_number >= ETL_CLASS_IMAGE_ID && class_number <= ETL_CLASS_PERFTRACK;
}

static u32 guid_data1(const etl_guid *guid)
{
    return etl_load_u32(guid->bytes);
}
