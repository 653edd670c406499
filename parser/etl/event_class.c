/*
 * event_class.c - from GUIDs to classes.
 *
 * One table, sorted by the first number of the GUID and searched by halving.
 * It holds the kernel's classes (a classic record of them decodes like the hook
 * of the same type), the classes that merges inject, and providers of which we
 * know the name only.
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
 * kernel classes; the injected ones also seen in merged traces. */
static const etl_class_row classes[] = {
    { GUID(0x01853a65, 0x418f, 0x4f36, 0xaefc, 0xdc0f1d2fd235), ETL_CLASS_CONFIG, "SystemConfig" },
    { GUID(0x0268a8b6, 0x74fd, 0x4302, 0x9dd0, 0x6e8f1795c0cf), ETL_CLASS_POOL, "Pool" },
    { GUID(0x05867806, 0xc246, 0x43ef, 0xa147, 0xe17d2bdb1496), ETL_CLASS_NONE, "HeapSummary" },
    { GUID(0x13976d09, 0xa327, 0x438c, 0x950b, 0x7f03192815c7), ETL_CLASS_DEBUG_PRINT, "DbgPrint" },
    { GUID(0x222962ab, 0x6180, 0x4b88, 0xa825, 0x346b75f2a24a), ETL_CLASS_HEAP, "Heap" },
    { GUID(0x22fb2cd6, 0x0e7b, 0x422b, 0xa0c7, 0x2fad1fd0e716), ETL_CLASS_NONE,
      "Microsoft-Windows-Kernel-Process" },
    { GUID(0x28ad2447, 0x105b, 0x4fe2, 0x9599, 0xe59b2aa9a634), ETL_CLASS_NONE,
      "KernelTraceControl" },
    { GUID(0x2cb15d1d, 0x5fc1, 0x11d2, 0xabe1, 0x00a0c911f518), ETL_CLASS_IMAGE, "Image" },
    { GUID(0x2ce9a149, 0xeffe, 0x42f0, 0xa635, 0xa1d39e26c8f2), ETL_CLASS_HYPERVISORX,
      "HypervisorX" },
    { GUID(0x3282fc76, 0xfeed, 0x498e, 0x8aa7, 0xe70f459d430e), ETL_CLASS_JOB, "Job" },
    { GUID(0x3ac66736, 0xcc59, 0x4cff, 0x8115, 0x8df50e39816b), ETL_CLASS_CRITSEC, "CritSec" },
    { GUID(0x3d6fa8d0, 0xfe05, 0x11d0, 0x9dda, 0x00c04fd7ba7c), ETL_CLASS_PROCESS, "Process" },
    { GUID(0x3d6fa8d1, 0xfe05, 0x11d0, 0x9dda, 0x00c04fd7ba7c), ETL_CLASS_THREAD, "Thread" },
    { GUID(0x3d6fa8d3, 0xfe05, 0x11d0, 0x9dda, 0x00c04fd7ba7c), ETL_CLASS_MEMORY, "PageFault" },
    { GUID(0x3d6fa8d4, 0xfe05, 0x11d0, 0x9dda, 0x00c04fd7ba7c), ETL_CLASS_DISK_IO, "DiskIo" },
    { GUID(0x42695762, 0xea50, 0x497a, 0x9068, 0x5cbbb35e0b95), ETL_CLASS_WNF, "Wnf" },
    { GUID(0x45d8cccd, 0x539f, 0x4b72, 0xa8b7, 0x5c683142609a), ETL_CLASS_ALPC, "ALPC" },
    { GUID(0x68fdd900, 0x4a3e, 0x11d1, 0x84f4, 0x0000f80464e3), ETL_CLASS_HEADER, "EventTrace" },
    { GUID(0x6a399ae0, 0x4bc6, 0x4de9, 0x870b, 0x3657f8947e7e), ETL_CLASS_LOST_EVENT,
      "Lost_Event" },
    { GUID(0x763fd754, 0x7086, 0x4dfe, 0x95eb, 0xc01a46faf4ca), ETL_CLASS_NONE,
      "Microsoft-Windows-DotNETRuntimePrivate" },
    { GUID(0x7687a439, 0xf752, 0x45b8, 0xb741, 0x321aec0f8df9), ETL_CLASS_CACHE, "Cc" },
    { GUID(0x7f2a405c, 0x69b5, 0x4bf9, 0xa1f5, 0x30e8f1afab5e), ETL_CLASS_HYPERVISOR,
      "Hypervisor" },
    { GUID(0x89497f50, 0xeffe, 0x4440, 0x8cf2, 0xce6b1cdcaca7), ETL_CLASS_OBJECT, "Object" },
    { GUID(0x901d2afa, 0x4ff6, 0x46d7, 0x8d0e, 0x53645e1a47f5), ETL_CLASS_NONE,
      "Microsoft-Windows-Heap-Snapshot" },
    { GUID(0x90cbdc39, 0x4a3e, 0x11d1, 0x84f4, 0x0000f80464e3), ETL_CLASS_FILE, "FileIo" },
    { GUID(0x99134383, 0x5248, 0x43fc, 0x834b, 0x529454e75df3), ETL_CLASS_SPARE1, "Lbr" },
    { GUID(0x9a280ac0, 0xc8e0, 0x11d1, 0x84e2, 0x00c04fb998a2), ETL_CLASS_TCPIP, "TcpIp" },
    { GUID(0x9aec974b, 0x5b8e, 0x4118, 0x9b92, 0x3186d8002ce5), ETL_CLASS_UMS, "Ums" },
    { GUID(0x9b79ee91, 0xb5fd, 0x41c0, 0xa243, 0x4248e266e9d0), ETL_CLASS_SYSCONFIG_EX,
      "SysConfigEx" },
    { GUID(0x9e814aad, 0x3204, 0x11d2, 0x9a82, 0x006008a86939), ETL_CLASS_NONE,
      "Windows Kernel Trace" },
    { GUID(0xa669021c, 0xc450, 0x4609, 0xa035, 0x5af59af4df18), ETL_CLASS_NONE,
      "Microsoft-Windows-DotNETRuntimeRundown" },
    { GUID(0xa9152f00, 0x3f58, 0x4bee, 0x92a1, 0x70c7d079d5dd), ETL_CLASS_MODBOUND, "ModBound" },
    { GUID(0xae53722e, 0xc863, 0x11d2, 0x8659, 0x00c04fa321a1), ETL_CLASS_REGISTRY, "Registry" },
    { GUID(0xb2d14872, 0x7c5b, 0x463d, 0x8419, 0xee9bf7d23e04), ETL_CLASS_DPC, "DPC" },
    { GUID(0xb3e675d7, 0x2554, 0x4f18, 0x830b, 0x2762732560de), ETL_CLASS_IMAGE_ID, "ImageID" },
    { GUID(0xb675ec37, 0xbdb6, 0x4648, 0xbc92, 0xf3fdc74d3ca2), ETL_CLASS_NONE,
      "Microsoft-Windows-Kernel-EventTracing" },
    { GUID(0xbbccf6c1, 0x6cd1, 0x48c4, 0x80ff, 0x839482e37671), ETL_CLASS_METADATA, "MetaData" },
    { GUID(0xbf3a50c5, 0xa9c9, 0x4988, 0xa005, 0x2df0b7c80f80), ETL_CLASS_UDPIP, "UdpIp" },
    { GUID(0xbf6ef1cb, 0x89b5, 0x0490, 0x80ac, 0xb180cfbcff0f), ETL_CLASS_PERFTRACK, "PerfTrack" },
    { GUID(0xc861d0e2, 0xa2c1, 0x4d36, 0x9f9c, 0x970bab943a12), ETL_CLASS_THREAD_POOL,
      "ThreadPool" },
    { GUID(0xce1dbfb4, 0x137e, 0x4da6, 0x87b0, 0x3f59aa102cbc), ETL_CLASS_PERFINFO, "PerfInfo" },
    { GUID(0xd1d93ef7, 0xe1f2, 0x4f45, 0x9943, 0x03d245fe6c00), ETL_CLASS_NONE,
      "Microsoft-Windows-Kernel-Memory" },
    { GUID(0xd781ca11, 0x61c0, 0x4387, 0xb83d, 0xaf52d3d2dd6a), ETL_CLASS_MEMORY, "HeapRange" },
    { GUID(0xd837ca92, 0x12b9, 0x44a5, 0xad6a, 0x3a65b3578aa8), ETL_CLASS_SPLIT_IO, "SplitIo" },
    { GUID(0xdef2fe46, 0x7bd6, 0x4b80, 0xbd94, 0xf57fe20d0ce3), ETL_CLASS_STACKWALK, "StackWalk" },
    { GUID(0xe13c0d23, 0xccbc, 0x4e12, 0x931b, 0xd9cc2eee27e4), ETL_CLASS_NONE,
      "Microsoft-Windows-DotNETRuntime" },
    { GUID(0xe43445e0, 0x0903, 0x48c3, 0xb878, 0xff0fccebdd04), ETL_CLASS_POWER, "Power" },
    { GUID(0xed54dff8, 0xc409, 0x4cf6, 0xbf83, 0x05e1e61a09c4), ETL_CLASS_WINSAT, "WinSat" },
};

const etl_class_row *etl_class_of_guid(const u8 *guid)
{
    const u32 wanted = etl_load_u32(guid);
    size_t low = 0;
    size_t high = ETL_COUNT_OF(classes);
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (guid_data1(&classes[middle].guid) < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < ETL_COUNT_OF(classes) && guid_data1(&classes[low].guid) == wanted; low++) {
        if (memcmp(classes[low].guid.bytes, guid, sizeof classes[low].guid.bytes) == 0)
            return &classes[low];
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

u16 etl_classic_record_key(const etl_record *record)
{
    if (!etl_record_is_classic(record) || record->provider == NULL)
        return ETL_KEY_NONE;
    const etl_class_row *const row = etl_class_of_guid(record->provider);
    if (row == NULL || row->class_number == ETL_CLASS_NONE)
        return ETL_KEY_NONE;
    const u16 key = (u16)(row->class_number << 8 | record->opcode);
    return key == ETL_HOOK_IMAGE_LOAD_CLASS ? (u16)ETL_HOOK_IMAGE_LOAD : key;
}

bool etl_record_hook(const etl_record *record, u16 *hook)
{
    const u16 key = record->has_hook ? record->hook : etl_classic_record_key(record);
    if (!record->has_hook && key >> 8 >= ETL_CLASS_HOOK_COUNT)
        return false;
    *hook = key;
    return true;
}

bool etl_record_is_injected(const etl_record *record)
{
    if (record->has_hook)
        return false;
    const unsigned class_number = etl_classic_record_key(record) >> 8;
    return class_number >= ETL_CLASS_IMAGE_ID && class_number <= ETL_CLASS_PERFTRACK;
}

static u32 guid_data1(const etl_guid *guid)
{
    return etl_load_u32(guid->bytes);
}
