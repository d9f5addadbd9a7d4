// Memset nodes: element sizes, rows and pitches.
// DIFFERS rows of: 5.2.3 fills each row with width bytes, and with the element size in place of the
//     value; hipMemsetParams (HIP 7 documentation of hipGraphAddMemsetNode)
// proves: hipGraphAddMemsetNode
#include "graph.h"

static void print(const char* label, const unsigned char* memory, size_t bytes) {
    auto values = contents(memory, bytes);
    std::string text;
    char digits[4];
    for (auto value : values) {
        std::snprintf(digits, sizeof digits, "%02x", value);
        text += digits;
    }
    line("%s: %s", label, text.c_str());
}

int main() {
    const size_t bytes = 48;
    struct Case {
        const char* label;
        unsigned element, value;
        size_t offset, width, height, pitch;
    };
    const Case cases[] = {
        {"bytes", 1, 0x5a, 0, 20, 1, 0},          {"bytes at an odd place", 1, 0x5b, 3, 17, 1, 0},
        {"halves", 2, 0x1234, 0, 10, 1, 0},       {"words", 4, 0x89abcdef, 0, 7, 1, 0},
        {"one word", 4, 0x01020304, 8, 1, 1, 0},  {"bytes of a large value", 1, 0x1234, 0, 4, 1, 0},
        {"rows of bytes", 1, 0x77, 0, 5, 3, 16},  {"rows of halves", 2, 0xbeef, 2, 3, 3, 12},
        {"rows of words", 4, 0xcafef00d, 0, 2, 4, 12},
    };
    unsigned char* memory = device_memory<unsigned char>(bytes, 0xee);
    std::vector<unsigned char> background(bytes, 0xee);
    for (const Case& c : cases) {
        NEED(hipMemcpy(memory, background.data(), bytes, hipMemcpyHostToDevice));
        hipGraph_t graph;
        NEED(hipGraphCreate(&graph, 0));
        hipGraphNode_t node;
        hipMemsetParams params = fill_params(memory + c.offset, c.value, c.width, c.height, c.pitch,
            c.element);
        NEED(hipGraphAddMemsetNode(&node, graph, nullptr, 0, &params));
        hipGraphExec_t exec = instantiate(graph);
        run(exec, nullptr);
        print(c.label, memory, bytes);
        NEED(hipGraphExecDestroy(exec));
        NEED(hipGraphDestroy(graph));
    }
    NEED(hipFree(memory));
}
