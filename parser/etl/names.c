/*
 * names.c - the names of events.
 *
 * In: the class and type of a record. Out: a name such as "Heap/Alloc"; NULL if unknown.
 *
 * Events that we decode have their names in event_rows.h. For others, one table maps class and type
 * to a name, sorted and searched by halving. The names are those of the kernel's MOF classes, which
 * WPA and xperf show too, with the class spelled as in event_class.c; the MOF's HeapTrace is Heap
 * here. Types that the MOF does not publish are named after the constants of phnt, and the injected
 * classes as PerfView names them. Invariant: the table must stay sorted.
 */
#include "event_layout.h"

typedef struct name_row {
    u16 key;
    const char *name;
} name_row;

static const char *name_of_key(u16 key);

static const name_row names[] = {
    { 0x0000, "EventTrace/Header" },
    { 0x0005, "EventTrace/Extension" },
    { 0x0008, "EventTrace/RDComplete" },
    { 0x0020, "EventTrace/EndExtension" },
    { 0x0030, "EventTrace/RundownBegin" },
    { 0x0031, "EventTrace/RundownEnd" },
    { 0x0040, "EventTrace/DbgIdRSDS" },
    { 0x0041, "EventTrace/DbgIdNB10" },
    { 0x0042, "EventTrace/BuildLab" },
    { 0x0043, "EventTrace/BinaryPath" },
    { 0x0050, "EventTrace/PartitionInfo" },
    { 0x010a, "DiskIo/Read" },
    { 0x010b, "DiskIo/Write" },
    { 0x010c, "DiskIo/ReadInit" },
    { 0x010d, "DiskIo/WriteInit" },
    { 0x010e, "DiskIo/FlushBuffers" },
    { 0x010f, "DiskIo/FlushInit" },
    { 0x020a, "PageFault/TransitionFault" },
    { 0x020b, "PageFault/DemandZeroFault" },
    { 0x020c, "PageFault/CopyOnWrite" },
    { 0x020d, "PageFault/GuardPageFault" },
    { 0x020e, "PageFault/HardPageFault" },
    { 0x020f, "PageFault/AccessViolation" },
    { 0x0220, "PageFault/HardFault" },
    { 0x0221, "PageFault/RemovePageByColor" },
    { 0x0222, "PageFault/RemovePageFromList" },
    { 0x0223, "PageFault/PageInMemory" },
    { 0x0224, "PageFault/InsertInFreeList" },
    { 0x0225, "PageFault/InsertModifiedNoWriteList" },
    { 0x0226, "PageFault/InsertInList" },
    { 0x0228, "PageFault/InsertAtFront" },
    { 0x0229, "PageFault/UnlinkFromStandby" },
    { 0x022a, "PageFault/UnlinkFreeOrZeroed" },
    { 0x022b, "PageFault/WorkingSetManager" },
    { 0x022c, "PageFault/TrimProcess" },
    { 0x022e, "PageFault/ZeroShareCount" },
    { 0x023c, "PageFault/WSInfoProcess" },
    { 0x0245, "PageFault/FaultAddressWithIp" },
    { 0x0246, "PageFault/TrimSession" },
    { 0x0247, "PageFault/MemorySnapLite" },
    { 0x024a, "PageFault/WSInfoSession" },
    { 0x024b, "PageFault/SessionCreate" },
    { 0x024c, "PageFault/SessionRundownStart" },
    { 0x024d, "PageFault/SessionRundownEnd" },
    { 0x024e, "PageFault/SessionDelete" },
    { 0x0269, "PageFault/ImageLoadBacked" },
    { 0x0271, "PageFault/ContiguousMemory" },
    { 0x0272, "PageFault/StoreFault" },
    { 0x0273, "PageFault/InStoreFault" },
    { 0x0274, "PageFault/CompressedPage" },
    { 0x0275, "PageFault/PageInMemoryRundown" },
    { 0x0276, "PageFault/PageAccess" },
    { 0x0277, "PageFault/PageRelease" },
    { 0x0278, "PageFault/PageRangeAccess" },
    { 0x0279, "PageFault/PageRangeRelease" },
    { 0x027a, "PageFault/PageCombine" },
    { 0x027b, "PageFault/KernelMemUsage" },
    { 0x027c, "PageFault/MMStats" },
    { 0x0282, "PageFault/PageAccessEx" },
    { 0x0283, "PageFault/RemoveFromWS" },
    { 0x0284, "PageFault/WSShareableRundown" },
    { 0x0285, "PageFault/WSActiveRundown" },
    { 0x0320, "Process/PerfCtr" },
    { 0x0321, "Process/PerfCtrRundown" },
    { 0x0323, "Process/InSwap" },
    { 0x0324, "Process/Freeze" },
    { 0x0325, "Process/Thaw" },
    { 0x0328, "Process/SetAffinity" },
    { 0x0440, "FileIo/Create" },
    { 0x0441, "FileIo/Cleanup" },
    { 0x0442, "FileIo/Close" },
    { 0x0443, "FileIo/Read" },
    { 0x0444, "FileIo/Write" },
    { 0x0445, "FileIo/SetInfo" },
    { 0x0446, "FileIo/Delete" },
    { 0x0447, "FileIo/Rename" },
    { 0x0448, "FileIo/DirEnum" },
    { 0x0449, "FileIo/Flush" },
    { 0x044a, "FileIo/QueryInfo" },
    { 0x044b, "FileIo/FSControl" },
    { 0x044c, "FileIo/OperationEnd" },
    { 0x044d, "FileIo/DirNotify" },
    { 0x0524, "Thread/CSwitch" },
    { 0x0525, "Thread/CompCS" },
    { 0x0529, "Thread/SpinLock" },
    { 0x0530, "Thread/SetPriority" },
    { 0x0531, "Thread/SetBasePriority" },
    { 0x0532, "Thread/ReadyThread" },
    { 0x0533, "Thread/SetPagePriority" },
    { 0x0534, "Thread/SetIoPriority" },
    { 0x0535, "Thread/ThreadAffinity" },
    { 0x0539, "Thread/WorkerThread" },
    { 0x060a, "TcpIp/SendIPV4" },
    { 0x060b, "TcpIp/RecvIPV4" },
    { 0x060c, "TcpIp/ConnectIPV4" },
    { 0x060d, "TcpIp/DisconnectIPV4" },
    { 0x061a, "TcpIp/SendIPV6" },
    { 0x061b, "TcpIp/RecvIPV6" },
    { 0x061c, "TcpIp/ConnectIPV6" },
    { 0x061d, "TcpIp/DisconnectIPV6" },
    { 0x080a, "UdpIp/SendIPV4" },
    { 0x080b, "UdpIp/RecvIPV4" },
    { 0x081a, "UdpIp/SendIPV6" },
    { 0x081b, "UdpIp/RecvIPV6" },
    { 0x0b0b, "SystemConfig/PhyDisk" },
    { 0x0b0c, "SystemConfig/LogDisk" },
    { 0x0b0d, "SystemConfig/NIC" },
    { 0x0b0e, "SystemConfig/Video" },
    { 0x0b10, "SystemConfig/Power" },
    { 0x0b11, "SystemConfig/Network" },
    { 0x0b12, "SystemConfig/OpticalDisk" },
    { 0x0b15, "SystemConfig/IRQ" },
    { 0x0b16, "SystemConfig/PnP" },
    { 0x0b17, "SystemConfig/IDEChannel" },
    { 0x0b18, "SystemConfig/NumaNode" },
    { 0x0b1a, "SystemConfig/ProcessorGroup" },
    { 0x0b1b, "SystemConfig/ProcessorNumber" },
    { 0x0b1c, "SystemConfig/DPI" },
    { 0x0b1d, "SystemConfig/CodeIntegrity" },
    { 0x0b1e, "SystemConfig/TelemetryConfiguration" },
    { 0x0b1f, "SystemConfig/Defragmentation" },
    { 0x0b20, "SystemConfig/MobilePlatform" },
    { 0x0b22, "SystemConfig/FlightIds" },
    { 0x0b23, "SystemConfig/Processors" },
    { 0x0e20, "Pool/Alloc" },
    { 0x0e21, "Pool/AllocSession" },
    { 0x0e22, "Pool/Free" },
    { 0x0e23, "Pool/FreeSession" },
    { 0x0e24, "Pool/AddPoolPage" },
    { 0x0e25, "Pool/AddPoolPageSession" },
    { 0x0e26, "Pool/BigPoolPage" },
    { 0x0e27, "Pool/BigPoolPageSession" },
    { 0x0e28, "Pool/PoolSnapDCStart" },
    { 0x0e29, "Pool/PoolSnapDCEnd" },
    { 0x0e2a, "Pool/BigPoolSnapDCStart" },
    { 0x0e2b, "Pool/BigPoolSnapDCEnd" },
    { 0x0e2c, "Pool/PoolSnapSessionDCStart" },
    { 0x0e2d, "Pool/PoolSnapSessionDCEnd" },
    { 0x0e2e, "Pool/BigPoolSnapSessionDCStart" },
    { 0x0e2f, "Pool/BigPoolSnapSessionDCEnd" },
    { 0x0f2e, "PerfInfo/SampleProf" },
    { 0x0f2f, "PerfInfo/PmcCounterProf" },
    { 0x0f30, "PerfInfo/PmcCounterConfig" },
    { 0x0f48, "PerfInfo/SetInterval" },
    { 0x0f49, "PerfInfo/CollectionStart" },
    { 0x0f4a, "PerfInfo/CollectionEnd" },
    { 0x1027, "Heap/CreateSnapShot" },
    { 0x1028, "Heap/DestroySnapShot" },
    { 0x1029, "Heap/ExtendSnapShot" },
    { 0x102b, "Heap/Lock" },
    { 0x102c, "Heap/Unlock" },
    { 0x102d, "Heap/Validate" },
    { 0x102e, "Heap/Walk" },
    { 0x1037, "Heap/AffinitySlotAssigned" },
    { 0x1420, "Image/Relocation" },
    { 0x1422, "Image/HypercallPage" },
    { 0x1720, "CritSec/Enter" },
    { 0x1721, "CritSec/Leave" },
    { 0x1722, "CritSec/Collision" },
    { 0x1723, "CritSec/Initialize" },
    { 0x2124, "SysConfigEx/NetworkInterface" },
    { 0x2321, "WinSat/WinSPR" },
    { 0x2323, "WinSat/Metrics" },
    { 0x2325, "WinSat/SystemConfig" },
};

const char *etl_hook_name(u16 hook)
{
    return hook >> 8 < ETL_CLASS_HOOK_COUNT ? name_of_key(hook) : NULL;
}

const char *etl_record_name(const etl_record *record)
{
    const u16 key = etl_record_key(record);
    const bool is_provider = !record->has_hook && key >> 8 >= ETL_CLASS_PROVIDERS;
    const char *const name = name_of_key(key);
    if (!is_provider || name != NULL)
        return name;
    const bool is_message = record->header == ETL_HEADER_MESSAGE;
    if (record->provider == NULL || is_message)
        return NULL;
    return etl_provider_name(record->provider);
}

const char *etl_provider_name(const u8 *guid)
{
    const etl_class_row *const row = etl_class_of_guid(guid);
    return row != NULL ? row->name : NULL;
}

static const char *name_of_key(u16 key)
{
    const etl_decoder *const row = etl_decoder_of_key(key);
    if (row != NULL)
        return row->name;
    size_t at;
    ETL_BISECT(at, 0, ETL_COUNT_OF(names), names[at].key < key);
    return at < ETL_COUNT_OF(names) && names[at].key == key ? names[at].name : NULL;
}
