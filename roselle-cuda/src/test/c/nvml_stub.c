// Two made-up GPUs behind NVML's functions, to hold the signatures of the Java binding to something that was compiled from C.
// Built without a C library: gcc -shared -fPIC -nostdlib. Every function fails with 999 when its arguments are not as declared.
typedef unsigned long long u64;
typedef struct device { int index; } *nvmlDevice_t;
typedef struct { u64 total, free, used; } nvmlMemory_t;
typedef struct { unsigned gpu, memory; } nvmlUtilization_t;

static struct device devices[2] = {{0}, {1}};
static int users;
static u64 millijoules = 5000000000ULL;  // more than 32 bits hold

static int copy(const char* text, char* target, unsigned length) {
    unsigned i = 0;
    for (; text[i]; i++) {
        if (i + 1 >= length) {
            return 7;  // NVML_ERROR_INSUFFICIENT_SIZE
        }
        target[i] = text[i];
    }
    target[i] = 0;
    return 0;
}

static int isKnown(nvmlDevice_t device) { return users > 0 && (device == &devices[0] || device == &devices[1]); }

const char* nvmlErrorString(int error) { return error == 999 ? "Unknown Error" : error == 2 ? "Invalid Argument" : "Error"; }
int nvmlInit_v2(void) { return users++ >= 0 ? 0 : 999; }
int nvmlShutdown(void) { return users-- > 0 ? 0 : 1; }
int nvmlSystemGetDriverVersion(char* version, unsigned length) { return length >= 80 ? copy("580.65.06", version, length) : 999; }

int nvmlDeviceGetCount_v2(unsigned* count) {
    *count = 2;
    return users > 0 ? 0 : 1;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* device) {
    if (index > 1) {
        return 2;
    }
    *device = &devices[index];
    return 0;
}

int nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned length) {
    return isKnown(device) ? copy(device->index ? "Stub T4" : "Stub H200", name, length) : 999;
}

// The second one tells no energy and no load; the first has used 250 J more each time.
int nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, u64* energy) {
    if (!isKnown(device)) {
        return 999;
    }
    *energy = millijoules += 250000;
    return device->index ? 3 : 0;
}

int nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned* power) {
    *power = isKnown(device) ? 70000u + 600000u * !device->index : 0;
    return isKnown(device) ? 0 : 999;
}

int nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) {
    memory->total = 150754820096ULL;
    memory->free = 150000000000ULL;
    memory->used = 754820096ULL;
    return isKnown(device) ? 0 : 999;
}

int nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t* rates) {
    rates->gpu = 97;
    rates->memory = 55;
    return !isKnown(device) ? 999 : device->index ? 3 : 0;
}
