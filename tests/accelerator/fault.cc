#include "fault.h"

#include <cstdlib>
#include <sstream>

namespace accelerator {

const Faults& Faults::Get() {
  static const Faults* const faults = new Faults(std::getenv("TFENV_ACCELERATOR_FAULT"));
  return *faults;
}

Faults::Faults(const char* text) {
  std::istringstream words(text == nullptr ? "" : text);
  for (std::string word; std::getline(words, word, ',');) {
    const size_t colon = word.find(':');
    faults_[word.substr(0, colon)].insert(colon == std::string::npos ? "" : word.substr(colon + 1));
  }
}

bool Faults::Strikes(const std::string& kind, const std::string& op) const {
  const auto found = faults_.find(kind);
  return found != faults_.end() && (found->second.count(op) != 0 || found->second.count("*") != 0);
}

int64_t Faults::MemoryLimit(int64_t healthy) const {
  const auto found = faults_.find("memory");
  return found == faults_.end() ? healthy : std::stoll(*found->second.begin());
}

}  // namespace accelerator
