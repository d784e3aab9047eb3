// LSTM and GRU as TensorFlow's GPU ops have them: Keras chooses these as soon as any GPU is listed, and
// TensorFlow has no CPU kernel to borrow.
//
// One layer, one direction, no dropout, float32. Weights of all gates come first, then biases, each once for
// the input and once for the state. Gates are i, f, c, o for LSTM, and z, r, h for GRU, as Keras orders them
// for a TensorFlow without CUDA. The backward pass computes the forward pass again, and reserves nothing.

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor_shape.h"

namespace accelerator {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::TensorShape;
using Row = std::vector<double>;

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Sizes, and where in the flat parameters the parts of gate `k` begin.
struct Layout {
  bool lstm, time_major;
  int64_t times, batch, inputs, units;

  int64_t gates() const { return lstm ? 4 : 3; }
  int64_t w(int64_t k) const { return k * units * inputs; }
  int64_t r(int64_t k) const { return w(gates()) + k * units * units; }
  int64_t w_bias(int64_t k) const { return r(gates()) + k * units; }
  int64_t r_bias(int64_t k) const { return w_bias(gates()) + k * units; }
  int64_t parameters() const { return r_bias(gates()); }
  int64_t row(int64_t time, int64_t example) const {
    return time_major ? time * batch + example : example * times + time;
  }
};

// What the backward pass needs of one time step of one example.
struct Step {
  Row gate, state_before, cell_before, cell, recurrent;  // recurrent: the state's part of GRU's last gate
};

// Moves `state` and `cell` one step on.
Step Forward(const Layout& at, const float* p, const float* x, Row* state, Row* cell) {
  Step step;
  step.state_before = *state;
  step.cell_before = *cell;
  step.gate.resize(at.gates() * at.units);
  step.recurrent.resize(at.units);
  for (int64_t u = 0; u < at.units; ++u) {
    double* const gate = &step.gate[u];
    for (int64_t k = 0; k < at.gates(); ++k) {
      double from_input = p[at.w_bias(k) + u], from_state = p[at.r_bias(k) + u];
      for (int64_t i = 0; i < at.inputs; ++i) from_input += double{p[at.w(k) + u * at.inputs + i]} * x[i];
      for (int64_t j = 0; j < at.units; ++j) {
        from_state += p[at.r(k) + u * at.units + j] * step.state_before[j];
      }
      if (!at.lstm && k == 2) {
        step.recurrent[u] = from_state;
        gate[k * at.units] = std::tanh(from_input + gate[at.units] * from_state);
      } else {
        const double sum = from_input + from_state;
        gate[k * at.units] = at.lstm && k == 2 ? std::tanh(sum) : Sigmoid(sum);
      }
    }
    if (at.lstm) {
      (*cell)[u] = gate[at.units] * (*cell)[u] + gate[0] * gate[2 * at.units];
      (*state)[u] = gate[3 * at.units] * std::tanh((*cell)[u]);
    } else {
      (*state)[u] = gate[0] * (*state)[u] + (1 - gate[0]) * gate[2 * at.units];
    }
  }
  step.cell = *cell;
  return step;
}

// From gradients of a step's state and cell to those before it, and those of input and parameters.
void Backward(const Layout& at, const float* p, const float* x, const Step& step, Row* d_state, Row* d_cell,
              float* d_x, Row* d_p) {
  Row before(at.units);
  Row d_input(at.gates() * at.units), d_recurrent(at.gates() * at.units);  // of the sums inside the gates
  for (int64_t u = 0; u < at.units; ++u) {
    const double a = step.gate[u], b = step.gate[at.units + u], c = step.gate[2 * at.units + u];
    const double d = (*d_state)[u];
    if (at.lstm) {
      const double o = step.gate[3 * at.units + u], squashed = std::tanh(step.cell[u]);
      const double inner = (*d_cell)[u] + d * o * (1 - squashed * squashed);
      d_input[u] = inner * c * a * (1 - a);
      d_input[at.units + u] = inner * step.cell_before[u] * b * (1 - b);
      d_input[2 * at.units + u] = inner * a * (1 - c * c);
      d_input[3 * at.units + u] = d * squashed * o * (1 - o);
      (*d_cell)[u] = inner * b;
      for (int64_t k = 0; k < 4; ++k) d_recurrent[k * at.units + u] = d_input[k * at.units + u];
    } else {
      const double d_sum = d * (1 - a) * (1 - c * c);
      d_input[u] = d_recurrent[u] = d * (step.state_before[u] - c) * a * (1 - a);
      d_input[at.units + u] = d_recurrent[at.units + u] = d_sum * step.recurrent[u] * b * (1 - b);
      d_input[2 * at.units + u] = d_sum;
      d_recurrent[2 * at.units + u] = d_sum * b;
      before[u] = d * a;
    }
  }
  for (int64_t k = 0; k < at.gates(); ++k) {
    for (int64_t u = 0; u < at.units; ++u) {
      const double from_input = d_input[k * at.units + u], from_state = d_recurrent[k * at.units + u];
      (*d_p)[at.w_bias(k) + u] += from_input;
      (*d_p)[at.r_bias(k) + u] += from_state;
      for (int64_t i = 0; i < at.inputs; ++i) {
        (*d_p)[at.w(k) + u * at.inputs + i] += from_input * x[i];
        d_x[i] += from_input * p[at.w(k) + u * at.inputs + i];
      }
      for (int64_t j = 0; j < at.units; ++j) {
        (*d_p)[at.r(k) + u * at.units + j] += from_state * step.state_before[j];
        before[j] += from_state * p[at.r(k) + u * at.units + j];
      }
    }
  }
  *d_state = before;
}

class Recurrent : public OpKernel {
 public:
  Recurrent(OpKernelConstruction* construction, bool backward, bool lengths)
      : OpKernel(construction), backward_(backward), lengths_(lengths) {
    std::string mode, direction;
    float dropout;
    OP_REQUIRES_OK(construction, construction->GetAttr("rnn_mode", &mode));
    OP_REQUIRES_OK(construction, construction->GetAttr("direction", &direction));
    OP_REQUIRES_OK(construction, construction->GetAttr("dropout", &dropout));
    OP_REQUIRES(construction,
                (mode == "lstm" || mode == "gru") && direction == "unidirectional" && dropout == 0,
                absl::UnimplementedError("only LSTM and GRU, in one direction, without dropout"));
    at_.lstm = mode == "lstm";
    at_.time_major = true;
    if (lengths) OP_REQUIRES_OK(construction, construction->GetAttr("time_major", &at_.time_major));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& x = Input(context, "input");
    const Tensor& h = Input(context, "input_h");
    const Tensor& p = Input(context, "params");
    Layout at = at_;
    at.times = x.dim_size(at.time_major ? 0 : 1);
    at.batch = x.dim_size(at.time_major ? 1 : 0);
    at.inputs = x.dim_size(2);
    at.units = h.dim_size(2);
    OP_REQUIRES(context, p.NumElements() == at.parameters() && h.NumElements() == at.batch * at.units,
                absl::UnimplementedError("only one layer"));
    if (backward_) {
      ComputeBackward(context, at, x, h, p);
    } else {
      ComputeForward(context, at, x, h, p);
    }
  }

 private:
  static const Tensor& Input(OpKernelContext* context, const char* name) {
    const Tensor* tensor = nullptr;
    TF_CHECK_OK(context->input(name, &tensor));
    return *tensor;
  }
  static float* Output(OpKernelContext* context, int index, const TensorShape& shape) {
    Tensor* tensor = nullptr;
    TF_CHECK_OK(context->allocate_output(index, shape, &tensor));
    std::memset(tensor->data(), 0, tensor->TotalBytes());
    return static_cast<float*>(tensor->data());
  }
  static Row Units(const Layout& at, const float* rows, int64_t example) {
    return Row(rows + example * at.units, rows + (example + 1) * at.units);
  }
  static void Write(const Layout& at, const Row& row, float* rows, int64_t example) {
    std::copy(row.begin(), row.end(), rows + example * at.units);
  }
  int64_t Length(OpKernelContext* context, const Layout& at, int64_t example) const {
    return lengths_ ? Input(context, "sequence_lengths").flat<int32_t>()(example) : at.times;
  }
  // All steps of one example, from its initial state and cell to the last ones.
  std::vector<Step> Run(OpKernelContext* context, const Layout& at, const float* x, const float* p,
                        int64_t example, Row* state, Row* cell) const {
    std::vector<Step> steps;
    for (int64_t t = 0; t < Length(context, at, example); ++t) {
      steps.push_back(Forward(at, p, x + at.row(t, example) * at.inputs, state, cell));
    }
    return steps;
  }
  Row Cell(OpKernelContext* context, const Layout& at, const char* name, int64_t example) const {
    return at.lstm ? Units(at, Input(context, name).flat<float>().data(), example) : Row(at.units);
  }

  void ComputeForward(OpKernelContext* context, const Layout& at, const Tensor& x, const Tensor& h,
                      const Tensor& p) {
    TensorShape shape = x.shape();
    shape.set_dim(2, at.units);
    float* const out = Output(context, 0, shape);
    float* const out_h = Output(context, 1, h.shape());
    float* const out_c = Output(context, 2, at.lstm ? h.shape() : TensorShape());
    for (int index = 3; index < context->num_outputs(); ++index) Output(context, index, TensorShape({0}));
    for (int64_t b = 0; b < at.batch; ++b) {
      Row state = Units(at, h.flat<float>().data(), b), cell = Cell(context, at, "input_c", b);
      const std::vector<Step> steps =
          Run(context, at, x.flat<float>().data(), p.flat<float>().data(), b, &state, &cell);
      for (size_t t = 0; t < steps.size(); ++t) {
        Write(at, t + 1 < steps.size() ? steps[t + 1].state_before : state, out, at.row(t, b));
      }
      Write(at, state, out_h, b);
      if (at.lstm) Write(at, cell, out_c, b);
    }
  }

  void ComputeBackward(OpKernelContext* context, const Layout& at, const Tensor& x, const Tensor& h,
                       const Tensor& p) {
    float* const d_x = Output(context, 0, x.shape());
    float* const d_h = Output(context, 1, h.shape());
    float* const d_c = Output(context, 2, Input(context, "input_c").shape());
    float* const d_p = Output(context, 3, p.shape());
    const float* const inputs = x.flat<float>().data();
    const float* const parameters = p.flat<float>().data();
    const float* const d_out = Input(context, "output_backprop").flat<float>().data();
    Row d_parameters(at.parameters());
    for (int64_t b = 0; b < at.batch; ++b) {
      Row state = Units(at, h.flat<float>().data(), b), cell = Cell(context, at, "input_c", b);
      const std::vector<Step> steps = Run(context, at, inputs, parameters, b, &state, &cell);
      Row d_state = Units(at, Input(context, "output_h_backprop").flat<float>().data(), b);
      Row d_cell = Cell(context, at, "output_c_backprop", b);
      for (int64_t t = static_cast<int64_t>(steps.size()) - 1; t >= 0; --t) {
        const int64_t row = at.row(t, b);
        for (int64_t u = 0; u < at.units; ++u) d_state[u] += d_out[row * at.units + u];
        Backward(at, parameters, inputs + row * at.inputs, steps[t], &d_state, &d_cell,
                 d_x + row * at.inputs, &d_parameters);
      }
      Write(at, d_state, d_h, b);
      if (at.lstm) Write(at, d_cell, d_c, b);
    }
    std::copy(d_parameters.begin(), d_parameters.end(), d_p);
  }

  Layout at_;
  const bool backward_, lengths_;
};

template <bool kBackward, bool kLengths>
struct RecurrentOf : Recurrent {
  explicit RecurrentOf(OpKernelConstruction* construction) : Recurrent(construction, kBackward, kLengths) {}
};

#define REGISTER_RECURRENT(op, ...) \
  REGISTER_KERNEL_BUILDER(Name(op).Device("GPU").TypeConstraint<float>("T"), __VA_ARGS__)
#define REGISTER_RECURRENT_WITH_LENGTHS(op, ...)                                                          \
  REGISTER_KERNEL_BUILDER(                                                                                \
      Name(op).Device("GPU").TypeConstraint<float>("T").HostMemory("sequence_lengths"), __VA_ARGS__)

REGISTER_RECURRENT("CudnnRNN", RecurrentOf<false, false>);
REGISTER_RECURRENT("CudnnRNNBackprop", RecurrentOf<true, false>);
REGISTER_RECURRENT_WITH_LENGTHS("CudnnRNNV3", RecurrentOf<false, true>);
REGISTER_RECURRENT_WITH_LENGTHS("CudnnRNNBackpropV3", RecurrentOf<true, true>);

}  // namespace
}  // namespace accelerator
