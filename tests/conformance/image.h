// The device code of the running program itself, for programs that load modules: `own_bundle()` is the offload
// bundle in section .hip_fatbin, `own_code_object()` the ELF image in it that fits the first device best.
#pragma once

#include "observe.h"

#include <algorithm>
#include <elf.h>
#include <fstream>
#include <iterator>

namespace observe {

inline std::vector<char> read_file(const char* path) {
    std::ifstream file(path, std::ios::binary);
    return std::vector<char>(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

inline std::vector<char> section(const std::vector<char>& elf, const char* wanted) {
    Elf64_Ehdr header;
    std::memcpy(&header, elf.data(), sizeof header);
    std::vector<Elf64_Shdr> sections(header.e_shnum);
    std::memcpy(sections.data(), elf.data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
    const char* names = elf.data() + sections[header.e_shstrndx].sh_offset;
    for (const Elf64_Shdr& one : sections) {
        if (std::strcmp(names + one.sh_name, wanted) == 0) {
            return std::vector<char>(elf.data() + one.sh_offset, elf.data() + one.sh_offset + one.sh_size);
        }
    }
    line("no section %s in this program", wanted);
    std::exit(1);
}

// How well code for a processor, or for a family of them (gfx11-generic), fits a card: 0 does not.
inline size_t fit(std::string processor, std::string card) {
    if (processor == card) return card.size() + 1;
    size_t family = processor.find("-generic");
    if (family == std::string::npos) return 0;
    processor.erase(family);
    processor.erase(std::remove(processor.begin(), processor.end(), '-'), processor.end());
    // gfx9-4-generic is for gfx950, too.
    if (card == "gfx950") card = "gfx94";
    return card.compare(0, processor.size(), processor) == 0 ? processor.size() : 0;
}

}  // namespace observe

inline std::vector<char> own_bundle() {
    return observe::section(observe::read_file("/proc/self/exe"), ".hip_fatbin");
}

// An uncompressed bundle is: 24 bytes of magic, the number of entries, and for each its offset, its size, the
// length of its name and the name (clang's documentation of the offload bundler).
inline std::vector<char> own_code_object() {
    std::vector<char> bundle = own_bundle();
    const char* at = bundle.data() + 24;
    auto number = [&] {
        unsigned long long value;
        std::memcpy(&value, at, sizeof value);
        at += sizeof value;
        return value;
    };
    hipDeviceProp_t properties;
    NEED(hipGetDeviceProperties(&properties, 0));
    std::string card = properties.gcnArchName;
    card = card.substr(0, card.find(':'));
    std::vector<char> best;
    size_t best_fit = 0;
    for (unsigned long long left = number(); left > 0; --left) {
        unsigned long long offset = number(), bytes = number(), length = number();
        std::string name(at, length);
        at += length;
        if (name.find("amdgcn") == std::string::npos) continue;
        name = name.substr(name.rfind("--") + 2);
        size_t fit = observe::fit(name.substr(0, name.find(':')), card);
        if (fit > best_fit) {
            best_fit = fit;
            best.assign(bundle.data() + offset, bundle.data() + offset + bytes);
        }
    }
    if (best_fit > 0) return best;
    line("no device code for %s in this program", card.c_str());
    std::exit(1);
}

// Stores bytes in a new file and returns its name.
inline std::string store(const std::vector<char>& bytes) {
    char name[] = "/tmp/conformance-XXXXXX";
    int file = mkstemp(name);
    if (file < 0) std::exit(1);
    std::ofstream(name, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return name;
}
