// A device of type "GPU" whose memory is host memory, told to TensorFlow through its PluggableDevice C API.
//
// Everything is synchronous: a stream is no more than a name, an event has always happened.

#include <malloc.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "fault.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"

struct SP_Stream_st {};
struct SP_Event_st {};
struct SP_Timer_st {};

namespace accelerator {
#ifdef ACCELERATOR_MISSING_SYMBOL
// As a plugin built for another release: no TensorFlow exports this.
extern "C" int tensorflow_symbol_of_another_release();
#endif

namespace {

constexpr uint64_t kAlignment = 64;  // what TensorFlow's CPU kernels expect of tensors
constexpr int64_t kMemory = int64_t{4} << 30;
std::atomic<int64_t> in_use{0};

void Allocate(const SP_Device*, uint64_t size, int64_t, SP_DeviceMemoryBase* memory) {
  memory->struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
  memory->opaque = nullptr;
  memory->size = 0;
  if (in_use + static_cast<int64_t>(size) > Faults::Get().MemoryLimit(kMemory)) return;
  memory->opaque = std::aligned_alloc(kAlignment, (size + kAlignment - 1) / kAlignment * kAlignment);
  if (memory->opaque == nullptr) return;
  memory->size = size;
  in_use += malloc_usable_size(memory->opaque);
}

void Deallocate(const SP_Device*, SP_DeviceMemoryBase* memory) {
  in_use -= malloc_usable_size(memory->opaque);  // TensorFlow does not always know the size it gives back
  std::free(memory->opaque);
  memory->opaque = nullptr;
  memory->size = 0;
}

void* HostAllocate(const SP_Device*, uint64_t size) {
  return std::aligned_alloc(kAlignment, (size + kAlignment - 1) / kAlignment * kAlignment);
}
void HostDeallocate(const SP_Device*, void* memory) { std::free(memory); }

TF_Bool AllocatorStats(const SP_Device*, SP_AllocatorStats* stats) {
  stats->struct_size = SP_ALLOCATORSTATS_STRUCT_SIZE;
  stats->bytes_in_use = in_use;
  return true;
}
TF_Bool MemoryUsage(const SP_Device*, int64_t* free, int64_t* total) {
  *total = kMemory;
  *free = kMemory - in_use;
  return true;
}

void Ok(TF_Status* status) { TF_SetStatus(status, TF_OK, ""); }

void CreateStream(const SP_Device*, SP_Stream* stream, TF_Status* status) {
  *stream = new SP_Stream_st;
  Ok(status);
}
void DestroyStream(const SP_Device*, SP_Stream stream) { delete stream; }
void StreamDependency(const SP_Device*, SP_Stream, SP_Stream, TF_Status* status) { Ok(status); }
void StreamStatus(const SP_Device*, SP_Stream, TF_Status* status) { Ok(status); }

void CreateEvent(const SP_Device*, SP_Event* event, TF_Status* status) {
  *event = new SP_Event_st;
  Ok(status);
}
void DestroyEvent(const SP_Device*, SP_Event event) { delete event; }
SE_EventStatus EventStatus(const SP_Device*, SP_Event) { return SE_EVENT_COMPLETE; }
void RecordEvent(const SP_Device*, SP_Stream, SP_Event, TF_Status* status) { Ok(status); }
void WaitForEvent(const SP_Device*, SP_Stream, SP_Event, TF_Status* status) { Ok(status); }
void BlockForEvent(const SP_Device*, SP_Event, TF_Status* status) { Ok(status); }
void BlockUntilDone(const SP_Device*, SP_Stream, TF_Status* status) { Ok(status); }
void Synchronize(const SP_Device*, TF_Status* status) { Ok(status); }

void CreateTimer(const SP_Device*, SP_Timer* timer, TF_Status* status) {
  *timer = new SP_Timer_st;
  Ok(status);
}
void DestroyTimer(const SP_Device*, SP_Timer timer) { delete timer; }
void TouchTimer(const SP_Device*, SP_Stream, SP_Timer, TF_Status* status) { Ok(status); }
uint64_t Nanoseconds(SP_Timer) { return 0; }

void DeviceToHost(const SP_Device*, SP_Stream, void* to, const SP_DeviceMemoryBase* from, uint64_t size,
                  TF_Status* status) {
  std::memcpy(to, from->opaque, size);
  Ok(status);
}
void HostToDevice(const SP_Device*, SP_Stream, SP_DeviceMemoryBase* to, const void* from, uint64_t size,
                  TF_Status* status) {
  std::memcpy(to->opaque, from, size);
  Ok(status);
}
void DeviceToDevice(const SP_Device*, SP_Stream, SP_DeviceMemoryBase* to, const SP_DeviceMemoryBase* from,
                    uint64_t size, TF_Status* status) {
  std::memcpy(to->opaque, from->opaque, size);
  Ok(status);
}
void SyncDeviceToHost(const SP_Device* device, void* to, const SP_DeviceMemoryBase* from, uint64_t size,
                      TF_Status* status) {
  DeviceToHost(device, nullptr, to, from, size, status);
}
void SyncHostToDevice(const SP_Device* device, SP_DeviceMemoryBase* to, const void* from, uint64_t size,
                      TF_Status* status) {
  HostToDevice(device, nullptr, to, from, size, status);
}
void SyncDeviceToDevice(const SP_Device* device, SP_DeviceMemoryBase* to, const SP_DeviceMemoryBase* from,
                        uint64_t size, TF_Status* status) {
  DeviceToDevice(device, nullptr, to, from, size, status);
}
void Zero(const SP_Device*, SP_Stream, SP_DeviceMemoryBase* memory, uint64_t size, TF_Status* status) {
  std::memset(memory->opaque, 0, size);
  Ok(status);
}
void Set(const SP_Device*, SP_Stream, SP_DeviceMemoryBase* memory, uint8_t pattern, uint64_t size,
         TF_Status* status) {
  std::memset(memory->opaque, pattern, size);
  Ok(status);
}
void Set32(const SP_Device*, SP_Stream, SP_DeviceMemoryBase* memory, uint32_t pattern, uint64_t size,
           TF_Status* status) {
  for (uint64_t at = 0; at + sizeof pattern <= size; at += sizeof pattern) {
    std::memcpy(static_cast<char*>(memory->opaque) + at, &pattern, sizeof pattern);
  }
  Ok(status);
}
TF_Bool HostCallback(const SP_Device*, SP_Stream, SE_StatusCallbackFn call, void* argument) {
  TF_Status* status = TF_NewStatus();
  call(argument, status);
  const bool ok = TF_GetCode(status) == TF_OK;
  TF_DeleteStatus(status);
  return ok;
}

void CreateStreamExecutor(const SP_Platform*, SE_CreateStreamExecutorParams* params, TF_Status* status) {
  SP_StreamExecutor* executor = params->stream_executor;
  executor->struct_size = SP_STREAMEXECUTOR_STRUCT_SIZE;
  executor->allocate = Allocate;
  executor->deallocate = Deallocate;
  executor->host_memory_allocate = HostAllocate;
  executor->host_memory_deallocate = HostDeallocate;
  executor->get_allocator_stats = AllocatorStats;
  executor->device_memory_usage = MemoryUsage;
  executor->create_stream = CreateStream;
  executor->destroy_stream = DestroyStream;
  executor->create_stream_dependency = StreamDependency;
  executor->get_stream_status = StreamStatus;
  executor->create_event = CreateEvent;
  executor->destroy_event = DestroyEvent;
  executor->get_event_status = EventStatus;
  executor->record_event = RecordEvent;
  executor->wait_for_event = WaitForEvent;
  executor->create_timer = CreateTimer;
  executor->destroy_timer = DestroyTimer;
  executor->start_timer = TouchTimer;
  executor->stop_timer = TouchTimer;
  executor->memcpy_dtoh = DeviceToHost;
  executor->memcpy_htod = HostToDevice;
  executor->memcpy_dtod = DeviceToDevice;
  executor->sync_memcpy_dtoh = SyncDeviceToHost;
  executor->sync_memcpy_htod = SyncHostToDevice;
  executor->sync_memcpy_dtod = SyncDeviceToDevice;
  executor->block_host_for_event = BlockForEvent;
  executor->block_host_until_done = BlockUntilDone;
  executor->synchronize_all_activity = Synchronize;
  executor->mem_zero = Zero;
  executor->memset = Set;
  executor->memset32 = Set32;
  executor->host_callback = HostCallback;
  Ok(status);
}

void DeviceCount(const SP_Platform*, int* count, TF_Status* status) {
  *count = Faults::Get().Has("no-device") ? 0 : 1;
  Ok(status);
}
void CreateDevice(const SP_Platform*, SE_CreateDeviceParams* params, TF_Status* status) {
  params->device->struct_size = SP_DEVICE_STRUCT_SIZE;
  params->device->ordinal = params->ordinal;
  params->device->hardware_name = "host memory";
  params->device->device_vendor = "tests of tfenv";
  params->device->pci_bus_id = "";
  Ok(status);
}
void CreateDeviceFns(const SP_Platform*, SE_CreateDeviceFnsParams* params, TF_Status* status) {
  params->device_fns->struct_size = SP_DEVICE_FNS_STRUCT_SIZE;
  Ok(status);
}
void CreateTimerFns(const SP_Platform*, SP_TimerFns* fns, TF_Status* status) {
  fns->struct_size = SP_TIMER_FNS_STRUCT_SIZE;
  fns->nanoseconds = Nanoseconds;
  Ok(status);
}

// What was made lives as long as the process: there is nothing to destroy.
template <typename... Args>
void Nothing(Args...) {}

}  // namespace
}  // namespace accelerator

extern "C" void SE_InitPlugin(SE_PlatformRegistrationParams* params, TF_Status* status) {
  using namespace accelerator;
#ifdef ACCELERATOR_MISSING_SYMBOL
  tensorflow_symbol_of_another_release();
#endif
  params->struct_size = SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->major_version = SE_MAJOR;
  params->minor_version = SE_MINOR;
  params->patch_version = SE_PATCH;
  params->platform->struct_size = SP_PLATFORM_STRUCT_SIZE;
  params->platform->name = "HOSTMEMORY";
  params->platform->type = "GPU";
  params->platform->use_bfc_allocator = false;  // so that each allocation is seen, and can fail
  params->platform_fns->struct_size = SP_PLATFORM_FNS_STRUCT_SIZE;
  params->platform_fns->get_device_count = DeviceCount;
  params->platform_fns->create_device = CreateDevice;
  params->platform_fns->destroy_device = Nothing;
  params->platform_fns->create_device_fns = CreateDeviceFns;
  params->platform_fns->destroy_device_fns = Nothing;
  params->platform_fns->create_stream_executor = CreateStreamExecutor;
  params->platform_fns->destroy_stream_executor = Nothing;
  params->platform_fns->create_timer_fns = CreateTimerFns;
  params->platform_fns->destroy_timer_fns = Nothing;
  params->destroy_platform = Nothing;
  params->destroy_platform_fns = Nothing;
  Ok(status);
}
