// What the accelerator is told to do wrong: TFENV_ACCELERATOR_FAULT, "KIND[:WHERE]", several joined by commas.

#ifndef TFENV_TESTS_ACCELERATOR_FAULT_H_
#define TFENV_TESTS_ACCELERATOR_FAULT_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace accelerator {

class Faults {
 public:
  // Those of this process, read once.
  static const Faults& Get();

  bool Has(const std::string& kind) const { return faults_.count(kind) != 0; }
  // Whether `kind` is to strike the op `op`; "*" is every op.
  bool Strikes(const std::string& kind, const std::string& op) const;
  // Bytes the device has: those of "memory:BYTES", or `healthy`.
  int64_t MemoryLimit(int64_t healthy) const;

 private:
  explicit Faults(const char* text);
  std::map<std::string, std::set<std::string>> faults_;
};

}  // namespace accelerator

#endif  // TFENV_TESTS_ACCELERATOR_FAULT_H_
