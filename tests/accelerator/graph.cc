// A graph optimizer like the one in tensorflow-metal >= 1.0: it fuses MatMul + BiasAdd + Relu to _FusedMatMul.
//
// With the fault "fused-relu" the fused form drops the ReLU, in traced graphs only, as reported of Metal.

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fault.h"
#include "tensorflow/c/experimental/grappler/grappler.h"
#include "tensorflow/core/framework/graph.pb.h"

namespace accelerator {
namespace {

using tensorflow::GraphDef;
using tensorflow::NodeDef;

// The node that input `text` ("^name", "name:1") comes from.
std::string Producer(const std::string& text) {
  const size_t begin = text[0] == '^' ? 1 : 0;
  return text.substr(begin, text.find(':') - begin);
}

std::set<std::string> Preserved(const TF_GrapplerItem* item, TF_Status* status) {
  int count = 0;
  size_t size = 0;
  TF_GetNodesToPreserveListSize(item, &count, &size, status);
  std::vector<char*> values(count);
  std::vector<size_t> lengths(count);
  std::string storage(size, '\0');
  TF_GetNodesToPreserveList(item, values.data(), lengths.data(), count, &storage[0], size, status);
  std::set<std::string> names;
  for (int i = 0; i < count; ++i) names.insert(Producer(std::string(values[i], lengths[i])));
  return names;
}

// The nodes of a graph by name, and how many inputs each feeds.
struct Index {
  explicit Index(GraphDef* graph) {
    for (NodeDef& node : *graph->mutable_node()) {
      nodes[node.name()] = &node;
      for (const std::string& input : node.input()) ++uses[Producer(input)];
    }
  }
  // What feeds input `at` of `node`, if that is an `op` on a GPU that feeds nothing else.
  NodeDef* Only(const NodeDef& node, int at, const std::string& op) const {
    if (node.input_size() <= at) return nullptr;
    const auto found = nodes.find(Producer(node.input(at)));
    if (found == nodes.end() || found->second->op() != op || uses.at(found->first) != 1) return nullptr;
    return found->second->device().find("GPU") == std::string::npos ? nullptr : found->second;
  }
  std::map<std::string, NodeDef*> nodes;
  std::map<std::string, int> uses;
};

// `relu`, whose inputs were those of `bias` and `product`, becomes one node; the names of others stay.
void Fuse(NodeDef* relu, const NodeDef& bias, const NodeDef& product) {
  NodeDef fused;
  fused.set_name(relu->name());
  fused.set_op("_FusedMatMul");
  fused.set_device(relu->device());
  fused.add_input(product.input(0));
  fused.add_input(product.input(1));
  fused.add_input(bias.input(1));
  for (const NodeDef* node : std::vector<const NodeDef*>{&product, &bias, relu}) {
    for (const std::string& input : node->input()) {
      if (input[0] == '^') fused.add_input(input);
    }
  }
  auto& attributes = *fused.mutable_attr();
  for (const char* name : {"T", "transpose_a", "transpose_b"}) attributes[name] = product.attr().at(name);
  attributes["num_args"].set_i(1);
  attributes["epsilon"].set_f(0.0001f);
  attributes["leakyrelu_alpha"].set_f(0.2f);
  auto* const operations = attributes["fused_ops"].mutable_list();
  operations->add_s("BiasAdd");
  if (!Faults::Get().Has("fused-relu")) operations->add_s("Relu");
  *relu = fused;
}

void FuseAll(GraphDef* graph, const std::set<std::string>& preserved) {
  const Index index(graph);
  std::set<std::string> gone;
  for (NodeDef& node : *graph->mutable_node()) {
    if (node.op() != "Relu" || node.device().find("GPU") == std::string::npos) continue;
    const NodeDef* const bias = index.Only(node, 0, "BiasAdd");
    const NodeDef* const product = bias == nullptr ? nullptr : index.Only(*bias, 0, "MatMul");
    if (product == nullptr || product->attr().at("T").type() != tensorflow::DT_FLOAT) continue;
    if (preserved.count(bias->name()) || preserved.count(product->name())) continue;
    gone.insert(bias->name());
    gone.insert(product->name());
    Fuse(&node, *bias, *product);
  }
  if (gone.empty()) return;
  GraphDef kept;
  *kept.mutable_library() = graph->library();
  *kept.mutable_versions() = graph->versions();
  for (const NodeDef& node : graph->node()) {
    if (gone.count(node.name()) == 0) *kept.add_node() = node;
  }
  graph->Swap(&kept);
}

void* Create() { return new char; }
void Destroy(void* state) { delete static_cast<char*>(state); }

void Optimize(void*, const TF_Buffer* in, const TF_GrapplerItem* item, TF_Buffer* out, TF_Status* status) {
  GraphDef graph;
  if (!graph.ParseFromArray(in->data, static_cast<int>(in->length))) {
    TF_SetStatus(status, TF_INTERNAL, "the graph cannot be read");
    return;
  }
  const std::set<std::string> preserved = Preserved(item, status);
  if (TF_GetCode(status) != TF_OK) return;
  FuseAll(&graph, preserved);
  const std::string text = graph.SerializeAsString();
  char* const data = static_cast<char*>(std::malloc(text.size()));
  text.copy(data, text.size());
  out->data = data;
  out->length = text.size();
  out->data_deallocator = [](void* memory, size_t) { std::free(memory); };
  TF_SetStatus(status, TF_OK, "");
}

}  // namespace
}  // namespace accelerator

extern "C" void TF_InitGraph(TP_OptimizerRegistrationParams* params, TF_Status* status) {
  params->struct_size = TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->major_version = GO_MAJOR;
  params->minor_version = GO_MINOR;
  params->patch_version = GO_PATCH;
  params->device_type = "GPU";
  params->optimizer_configs->struct_size = TP_OPTIMIZER_CONFIGS_STRUCT_SIZE;
  // TensorFlow's own passes would write channels-first convolutions, which CPU kernels do not have.
  params->optimizer_configs->layout_optimizer = TF_TriState_Off;
  params->optimizer_configs->remapping = TF_TriState_Off;
  params->optimizer->struct_size = TP_OPTIMIZER_STRUCT_SIZE;
  params->optimizer->create_func = accelerator::Create;
  params->optimizer->optimize_func = accelerator::Optimize;
  params->optimizer->destroy_func = accelerator::Destroy;
  TF_SetStatus(status, TF_OK, "");
}
