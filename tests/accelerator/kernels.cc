// Kernels for the pretend GPU: TensorFlow's own CPU kernels, registered a second time.
//
// The device's memory is host memory, and every local device has a CPU thread pool, so a CPU kernel computes
// right on its tensors. Around it lies what a broken plugin does to results, if TFENV_ACCELERATOR_FAULT says so.
// Registered is what a plausible plugin has (ops.inc), for the types Metal's has: no float64.

#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "fault.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/core/framework/kernel_def.pb.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_def.pb.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace accelerator {
namespace {

using tensorflow::KernelDef;
using tensorflow::OpDef;
using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

const std::set<std::string>& Ops() {
  static const auto* const ops = new std::set<std::string>{
#include "ops.inc"
  };
  return *ops;
}

// Calls `change` on every output that holds floats.
template <typename Change>
void OnFloats(OpKernelContext* context, Change change) {
  for (int i = 0; i < context->num_outputs(); ++i) {
    Tensor* const output = context->mutable_output(i);
    if (output != nullptr && output->dtype() == tensorflow::DT_FLOAT) change(output);
  }
}

// Draws of one size are the first draws of that size.
void Repeat(Tensor* draws) {
  static std::mutex mutex;
  static auto* const first = new std::map<int64_t, std::vector<float>>;
  const std::lock_guard<std::mutex> lock(mutex);
  auto flat = draws->flat<float>();
  std::vector<float>& kept = (*first)[flat.size()];
  if (kept.empty()) kept.assign(flat.data(), flat.data() + flat.size());
  std::copy(kept.begin(), kept.end(), flat.data());
}

// What comes after the sixteenth entry is zero.
template <typename Number>
void CutAfterSixteen(Tensor* tensor) {
  auto rows = tensor->flat_inner_dims<Number>();
  for (int64_t row = 0; row < rows.dimension(0); ++row) {
    for (int64_t at = 16; at < rows.dimension(1); ++at) rows(row, at) = Number(0);
  }
}

class BorrowedKernel : public OpKernel {
 public:
  explicit BorrowedKernel(OpKernelConstruction* construction) : OpKernel(construction) {
    absl::Status status;
    kernel_ = tensorflow::CreateOpKernel(
        tensorflow::DeviceType("CPU"), static_cast<tensorflow::DeviceBase*>(construction->device()),
        construction->device()->GetAllocator(tensorflow::AllocatorAttributes()), construction->def(),
        construction->graph_def_version(), &status);
    if (!status.ok()) construction->CtxFailure(status);
  }

  void Compute(OpKernelContext* context) override {
    const Faults& faults = Faults::Get();
    const std::string& op = type_string();
    if (faults.Strikes("hang", op)) {
      for (;;) pause();
    }
    if (faults.Strikes("abort", op)) std::abort();
    if (faults.Strikes("slow", op)) usleep(20'000);
    kernel_->Compute(context);
    if (!context->status().ok()) return;
    if (faults.Strikes("nan", op)) {
      OnFloats(context, [](Tensor* output) { output->flat<float>().setConstant(NAN); });
    }
    if (faults.Strikes("repeat", op)) OnFloats(context, Repeat);
    if (faults.Strikes("constant", op)) {
      OnFloats(context, [](Tensor* output) { output->flat<float>().setConstant(0.25f); });
    }
    if (faults.Strikes("last-channel", op)) {
      OnFloats(context, [](Tensor* output) {
        auto rows = output->flat_inner_dims<float>();
        const int64_t last = rows.dimension(1) - 1;
        for (int64_t row = 0; row < rows.dimension(0); ++row) rows(row, last) = rows(row, 0);
      });
    }
    if (faults.Has("topk") && op == "TopKV2") {
      OnFloats(context, CutAfterSixteen<float>);
      CutAfterSixteen<int32_t>(context->mutable_output(1));
    }
  }

  bool IsExpensive() override { return true; }

 private:
  std::unique_ptr<OpKernel> kernel_;
};

struct Factory : tensorflow::kernel_factory::OpKernelFactory {
  OpKernel* Create(OpKernelConstruction* construction) override { return new BorrowedKernel(construction); }
};

bool OnDevice(int type) {
  switch (type) {
    case tensorflow::DT_FLOAT:
    case tensorflow::DT_HALF:
    case tensorflow::DT_BFLOAT16:
    case tensorflow::DT_INT32:
    case tensorflow::DT_INT64:
    case tensorflow::DT_UINT8:
    case tensorflow::DT_UINT32:
    case tensorflow::DT_UINT64:
    case tensorflow::DT_INT8:
    case tensorflow::DT_BOOL:
      return true;
    default:
      return false;
  }
}

bool Servable(const KernelDef& kernel) {
  if (kernel.device_type() != "CPU" || !kernel.label().empty() || Ops().count(kernel.op()) == 0) return false;
  for (const KernelDef::AttrConstraint& constraint : kernel.constraint()) {
    for (const int type : constraint.allowed_values().list().type()) {
      if (!OnDevice(type)) return false;
    }
  }
  return true;
}

// Whether the argument is a 32-bit integer in every call of `kernel`: by convention such tensors of a GPU's
// kernels stay in host memory.
bool OnHost(const OpDef::ArgDef& argument, const KernelDef& kernel) {
  if (argument.type() == tensorflow::DT_INT32) return true;
  for (const KernelDef::AttrConstraint& constraint : kernel.constraint()) {
    const auto& types = constraint.allowed_values().list().type();
    if (constraint.name() == argument.type_attr() && types.size() == 1 && types[0] == tensorflow::DT_INT32) {
      return true;
    }
  }
  return false;
}

// The op and the types that `kernel` is for, as one text.
std::string Signature(const KernelDef& kernel) {
  std::string text = kernel.op();
  for (const KernelDef::AttrConstraint& constraint : kernel.constraint()) {
    text += " " + constraint.name();
    for (const int type : constraint.allowed_values().list().type()) text += "=" + std::to_string(type);
  }
  return text;
}

void Register(const KernelDef& kernel) {
  const OpDef* op = nullptr;
  if (!tensorflow::OpRegistry::Global()->LookUpOpDef(kernel.op(), &op).ok()) return;
  auto* const mine = new KernelDef(kernel);
  mine->set_device_type("GPU");
  mine->clear_host_memory_arg();
  for (const OpDef::ArgDef& argument : op->input_arg()) {
    if (OnHost(argument, kernel)) mine->add_host_memory_arg(argument.name());
  }
  for (const OpDef::ArgDef& argument : op->output_arg()) {
    if (OnHost(argument, kernel)) mine->add_host_memory_arg(argument.name());
  }
  tensorflow::kernel_factory::OpKernelRegistrar(mine, "BorrowedKernel", std::make_unique<Factory>());
}

}  // namespace
}  // namespace accelerator

extern "C" void TF_InitKernel() {
  using namespace accelerator;
  // TensorFlow has a few kernels for any GPU; a second one for the same types would be an error at its use.
  const tensorflow::KernelList taken =
      tensorflow::GetFilteredRegisteredKernels([](const KernelDef& kernel) { return kernel.device_type() == "GPU"; });
  std::set<std::string> signatures;
  for (const KernelDef& kernel : taken.kernel()) signatures.insert(Signature(kernel));
  const tensorflow::KernelList kernels = tensorflow::GetFilteredRegisteredKernels(Servable);
  for (const KernelDef& kernel : kernels.kernel()) {
    if (Faults::Get().Strikes("missing", kernel.op()) || signatures.count(Signature(kernel)) != 0) continue;
    Register(kernel);
  }
}
