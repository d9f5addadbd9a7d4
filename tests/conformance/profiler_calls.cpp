// What a profiler is told of calls: by whom, when, in which order, and with which arguments.
// proves: hipRegisterApiCallback, hipRemoveApiCallback, hipRegisterActivityCallback, hipRemoveActivityCallback
#include <thread>

#include "profiler.h"

using profiler::data;

namespace {

enum class Act { Nothing, Calls, RemovesApi, RemovesActivity, AsksForError };

thread_local int depth = 0;
uint64_t calls = 0;
Act act = Act::Nothing;
bool declines = false;
const void* expected = nullptr;

void* on_activity(uint32_t id, void* record, const void* given, void* arg) {
    line("%*sactivity %s: record %s, data %s, %s", 2 * depth, "", hipApiName(id), record ? "given" : "null",
         given ? "given" : "null", arg ? static_cast<const char*>(arg) : "null");
    if (arg) {
        --depth;
        return nullptr;
    }
    if (declines) return nullptr;
    std::memset(data(depth), 0xcc, sizeof(hip_api_data_t));
    data(depth)->correlation_id = ++calls;
    data(depth)->phase = 7;
    return data(depth++);
}

void on_api(uint32_t domain, uint32_t id, const void* given, void* arg) {
    auto* call = static_cast<const hip_api_data_t*>(given);
    line("%*sapi %s: domain %u, call %llu, phase %u, %s, %s", 2 * depth, "", hipApiName(id), domain,
         static_cast<unsigned long long>(call->correlation_id), call->phase, static_cast<const char*>(arg),
         given == data(depth - 1) ? "the activity's data" : "other data");
    if (id == HIP_API_ID_hipMalloc) {
        auto& args = call->args.hipMalloc;
        line("  %zu bytes for %s, value %s", args.size, args.ptr == expected ? "the pointer" : "another",
             reinterpret_cast<uintptr_t>(args.ptr__val) == 0xcccccccccccccccc ? "untouched" : "set");
    }
    if (depth > 1) return;
    if (act == Act::Calls && call->phase == 7) show("  the callback", hipStreamQuery(nullptr));
    if (act == Act::RemovesApi && call->phase == 7) show("  removes", hipRemoveApiCallback(HIP_API_ID_hipFree));
    if (act == Act::RemovesActivity && call->phase == 7) {
        show("  removes", hipRemoveActivityCallback(HIP_API_ID_hipFree));
    }
    if (act == Act::AsksForError && call->phase == 1) show("  last error", hipPeekAtLastError());
}

void numbers() {
    for (unsigned id : {0u, 1u, 6u, 50u, 185u, 296u, 333u, 334u, 335u, 400u, 1000u, ~0u}) {
        line("function %u", id);
        show("register api", profiler::on_api(id, on_api, "api"));
        show("remove api", hipRemoveApiCallback(id));
        show("remove api again", hipRemoveApiCallback(id));
        show("register activity", profiler::on_activity(id, on_activity, "activity"));
        show("remove activity", hipRemoveActivityCallback(id));
        show("remove activity again", hipRemoveActivityCallback(id));
    }
    show("last error", hipGetLastError());
}

}  // namespace

int main() {
    numbers();

    void* memory = nullptr;
    expected = &memory;
    line("api alone");
    NEED(profiler::on_api(HIP_API_ID_hipMalloc, on_api, "api"));
    show("malloc", hipMalloc(&memory, 100));
    show("free", hipFree(memory));
    line("activity alone");
    NEED(profiler::on_activity(HIP_API_ID_hipFree, on_activity, "activity"));
    show("free", hipFree(nullptr));
    line("both");
    NEED(profiler::on_activity(HIP_API_ID_hipMalloc, on_activity, "activity"));
    NEED(profiler::on_api(HIP_API_ID_hipFree, on_api, "api"));
    show("malloc", hipMalloc(&memory, 100));
    line("a call that fails");
    expected = nullptr;
    act = Act::AsksForError;
    show("malloc", hipMalloc(nullptr, 7));
    show("last error", hipGetLastError());
    act = Act::Nothing;
    expected = &memory;

    line("a callback that calls");
    NEED(profiler::on_activity(HIP_API_ID_hipStreamQuery, on_activity, "activity"));
    NEED(profiler::on_api(HIP_API_ID_hipStreamQuery, on_api, "api"));
    act = Act::Calls;
    show("free", hipFree(memory));
    act = Act::Nothing;

    line("another thread");
    std::thread([] { show("query", hipStreamQuery(nullptr)); }).join();

    line("the thread's own stream");
    show("query", hipStreamQuery_spt(nullptr));

    line("removed during the call: api");
    act = Act::RemovesApi;
    show("free", hipFree(nullptr));
    act = Act::Nothing;
    show("free", hipFree(nullptr));
    line("removed during the call: activity");
    NEED(profiler::on_api(HIP_API_ID_hipFree, on_api, "other api"));
    act = Act::RemovesActivity;
    show("free", hipFree(nullptr));
    act = Act::Nothing;
    show("free", hipFree(nullptr));

    line("registered again");
    NEED(profiler::on_activity(HIP_API_ID_hipFree, on_activity, "other activity"));
    show("free", hipFree(nullptr));
    line("an activity that gives no data");
    declines = true;
    show("free", hipFree(nullptr));
    declines = false;
    line("null");
    show("register api", profiler::on_api(HIP_API_ID_hipFree, nullptr, "api"));
    show("free", hipFree(nullptr));
    show("register activity", profiler::on_activity(HIP_API_ID_hipFree, nullptr, "activity"));
    show("free", hipFree(nullptr));
    show("calls", calls);
}
