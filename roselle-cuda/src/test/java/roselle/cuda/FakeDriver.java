package roselle.cuda;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import roselle.api.DeviceException;
import roselle.backend.Device;
import roselle.cuda.driver.DeviceAttribute;
import roselle.cuda.driver.Driver;
import roselle.cuda.driver.Matrix;
import roselle.cuda.driver.MemoryInfo;
import roselle.cuda.layout.SampleResultLayout;
import roselle.tensor.DataType;

/**
 * A driver with one card that computes nothing and checks everything: whose context, which memory, what a launch is given.
 *
 * <p>What a stream is given happens at the last moment at which it may: when somebody waits for the stream. So host memory
 * that changes too early, or is gone, is noticed. Any call can be made to fail.
 */
public class FakeDriver implements Driver {
    private static final long CONTEXT = 0xC0;

    /** A kind of GPU. */
    public record Card(String name, int major, int minor, int multiprocessors, int sharedMemory, long bytes) {
        public static final Card AMPERE = new Card("Fake A100", 8, 0, 108, 163 << 10, 4L << 30);
        public static final Card ADA = new Card("Fake L4", 8, 9, 58, 99 << 10, 4L << 30);
        public static final Card HOPPER = new Card("Fake H200", 9, 0, 132, 227 << 10, 4L << 30);

        public Card withBytes(long other) {
            return new Card(name, major, minor, multiprocessors, sharedMemory, other);
        }
    }

    /** How a call fails; after a sticky one every call fails so. */
    public record Fault(int error, String name, String text, boolean isSticky) {
        public static final Fault OUT_OF_MEMORY = new Fault(2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory", false);
        public static final Fault UNKNOWN = new Fault(999, "CUDA_ERROR_UNKNOWN", "unknown error", false);
        public static final Fault ILLEGAL_ADDRESS =
                new Fault(700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered", true);
        public static final Fault LAUNCH_FAILED =
                new Fault(719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure", true);
    }

    private final Card card;
    private final FakeMemory memory;
    private final FakeKernels kernels;
    private final Map<Long, Long> currentContexts = new HashMap<>(); // by thread
    private final Map<Long, Deque<Runnable>> streams = new HashMap<>();
    private final Map<Long, List<Runnable>> graphs = new HashMap<>();
    private final Map<Long, Long> events = new HashMap<>(); // to their time
    private final Map<Long, Long> records = new HashMap<>(); // of events: the last that the stream has not come to
    private final FakePinned pinned = new FakePinned();
    private final FakeReach reach;
    private final Map<String, Integer> counts = new TreeMap<>();
    private final List<FakeKernels.Launch> launches = new ArrayList<>();
    private @Nullable List<Runnable> capture;
    private @Nullable Fault stuck;
    private @Nullable Fault planned;
    private long plannedAt = -1;
    private String plannedFor = "";
    private int plannedForCount;
    private String failed = "";
    private long calls;
    private long nextHandle = 0x100;
    private int contextUsers;
    private int version = 13_000;
    private int devices = 1;
    private int token = 7;
    private Consumer<FakeKernels.Launch> computing = this::compute;

    public FakeDriver(Card card) {
        this.card = card;
        memory = new FakeMemory(card.bytes());
        kernels = new FakeKernels(card, memory, pinned);
        reach = new FakeReach(memory, pinned);
    }

    /** A device of this driver for an engine. */
    public synchronized Device open(DataType type) {
        return new CudaDevice(this, 0, type, FakeKernels::cubin);
    }

    /** Makes the call of this number fail, counted from 1. */
    public synchronized void failAt(long call, Fault fault) {
        plannedAt = call;
        planned = fault;
    }

    /** Makes a function fail after so many more calls of it. */
    public synchronized void failAfter(String function, int callsOfIt, Fault fault) {
        plannedFor = function;
        plannedForCount = count(function) + callsOfIt + 1;
        planned = fault;
    }

    synchronized void pretendVersion(int other) {
        version = other;
    }

    synchronized void pretendDevices(int count) {
        devices = count;
    }

    /** The token that every row gives. */
    public synchronized void sampleToken(int id) {
        token = id;
    }

    /** Computes in place of what the fake does: sample one token, always the same. */
    synchronized void whenRun(Consumer<FakeKernels.Launch> other) {
        computing = other;
    }

    /** What kernels find in memory. */
    synchronized FakeReach reach() {
        return reach;
    }

    /** The function whose call was made to fail; empty as long as none was. */
    synchronized String failed() {
        return failed;
    }

    public synchronized long calls() {
        return calls;
    }

    /** How often a function of the driver was called. */
    public synchronized int count(String function) {
        return counts.getOrDefault(function, 0);
    }

    synchronized FakeMemory deviceMemory() {
        return memory;
    }

    /** Takes the launches since the last call of this, those of replayed graphs too, but for those that bring what the host wrote. */
    synchronized List<FakeKernels.Launch> takeLaunches() {
        List<FakeKernels.Launch> taken = List.copyOf(launches);
        launches.clear();
        return taken;
    }

    /** What somebody took and did not return, in words; empty where there is nothing. */
    public synchronized String leaks() {
        var found = new StringBuilder();
        leak(found, memory.pieceCount(), "pieces of memory");
        leak(found, memory.reservedCount(), "pieces of reserved addresses");
        leak(found, kernels.moduleCount(), "modules");
        leak(found, streams.size(), "streams");
        leak(found, graphs.size(), "graphs");
        leak(found, events.size(), "events");
        leak(found, pinned.count(), "pieces of pinned memory");
        leak(found, contextUsers, "users of the context");
        return found.toString();
    }

    private static void leak(StringBuilder found, int count, String what) {
        if (count != 0) {
            found.append(count).append(' ').append(what).append("; ");
        }
    }

    private void call(String function) {
        calls++;
        counts.merge(function, 1, Integer::sum);
        Fault fault = planned;
        if (fault != null && (calls == plannedAt || isPlannedFor(function))) {
            planned = null;
            failed = function;
            stuck = fault.isSticky() ? fault : stuck;
            throw failure(function, fault);
        }
        if (stuck != null) {
            throw failure(function, stuck);
        }
    }

    private boolean isPlannedFor(String function) {
        return function.equals(plannedFor) && count(function) == plannedForCount;
    }

    private static DeviceException failure(String function, Fault fault) {
        return new DeviceException(
                "CUDA's " + function + " failed with " + fault.name + " (" + fault.error + ", " + fault.text + ")");
    }

    /** A call that needs the context of the calling thread. */
    private void callInContext(String function) {
        call(function);
        Long current = currentContexts.get(Thread.currentThread().threadId());
        if (current == null || contextUsers == 0) {
            throw new AssertionError(function + " was called by a thread without a context");
        }
    }

    private long handle() {
        return nextHandle++;
    }

    @Override
    public synchronized int version() {
        call("cuDriverGetVersion");
        return version;
    }

    @Override
    public synchronized int deviceCount() {
        call("cuDeviceGetCount");
        return devices;
    }

    @Override
    public synchronized String deviceName(int device) {
        call("cuDeviceGetName");
        return card.name;
    }

    @Override
    public synchronized int attribute(DeviceAttribute attribute, int device) {
        call("cuDeviceGetAttribute");
        return switch (attribute) {
            case MULTIPROCESSORS -> card.multiprocessors;
            case COMPUTE_CAPABILITY_MAJOR -> card.major;
            case COMPUTE_CAPABILITY_MINOR -> card.minor;
            case SHARED_MEMORY_PER_BLOCK -> card.sharedMemory;
            case VIRTUAL_MEMORY -> 1;
        };
    }

    @Override
    public synchronized long retainContext(int device) {
        call("cuDevicePrimaryCtxRetain");
        contextUsers++;
        currentContexts.put(Thread.currentThread().threadId(), CONTEXT);
        return CONTEXT;
    }

    @Override
    public synchronized void makeCurrent(long context) {
        if (context != CONTEXT) {
            throw new AssertionError("there is no context " + context);
        }
        currentContexts.put(Thread.currentThread().threadId(), context);
    }

    /** Ends the context with its last user, and with it all that is in it; that works whatever happened before. */
    @Override
    public synchronized void releaseContext(int device) {
        if (contextUsers == 0) {
            throw new AssertionError("the context was released more often than retained");
        }
        contextUsers--;
        if (contextUsers == 0 && stuck != null) {
            memory.freeAll();
            kernels.unloadAll();
            streams.clear();
            graphs.clear();
            events.clear();
            pinned.freeAll();
        }
    }

    @Override
    public synchronized MemoryInfo memory() {
        callInContext("cuMemGetInfo");
        return new MemoryInfo(memory.totalBytes() - memory.usedBytes(), memory.totalBytes());
    }

    @Override
    public synchronized long allocate(long bytes) {
        if (Fault.OUT_OF_MEMORY.equals(planned) && calls + 1 == plannedAt) {
            planned = null;
            calls++;
            return 0;
        }
        callInContext("cuMemAlloc");
        return memory.allocate(bytes);
    }

    @Override
    public synchronized void free(long address) {
        callInContext("cuMemFree");
        runAll();
        memory.free(address);
    }

    @Override
    public synchronized long backingUnit(int device) {
        call("cuMemGetAllocationGranularity");
        return FakeMemory.UNIT;
    }

    @Override
    public synchronized long reserve(long bytes) {
        callInContext("cuMemAddressReserve");
        return memory.reserve(bytes);
    }

    @Override
    public synchronized void unreserve(long address, long bytes) {
        callInContext("cuMemAddressFree");
        if (!memory.unreserve(address, bytes)) {
            throw failure("cuMemAddressFree", Fault.UNKNOWN);
        }
    }

    @Override
    public synchronized boolean back(long address, long bytes, int device) {
        Fault expected = planned;
        try {
            callInContext("cuMemCreate");
        } catch (DeviceException failure) {
            if (Fault.OUT_OF_MEMORY.equals(expected) && planned == null) {
                return false; // as the native driver says it
            }
            throw failure;
        }
        return memory.back(address, bytes);
    }

    @Override
    public synchronized void unback(long address, long bytes) {
        callInContext("cuMemUnmap");
        memory.unback(address, bytes, streams.values().stream().allMatch(Deque::isEmpty));
    }

    @Override
    public synchronized MemorySegment allocatePinned(long bytes) {
        callInContext("cuMemHostAlloc");
        return pinned.allocate(bytes);
    }

    @Override
    public synchronized void freePinned(MemorySegment segment) {
        callInContext("cuMemFreeHost");
        pinned.free(segment);
    }

    @Override
    public synchronized void clear(long address, long bytes, long stream) {
        callInContext("cuMemsetD8Async");
        memory.requireLive("a clearing", address, bytes);
        enqueue(stream, () -> memory.clear(address, bytes));
    }

    @Override
    public synchronized void copyIn(long target, MemorySegment source, long bytes, long stream) {
        callInContext("cuMemcpyHtoDAsync");
        memory.requireLive("a copy", target, bytes);
        MemorySegment bounded = source.asSlice(0, bytes);
        MemorySegment read = pinned.contains(source)
                ? bounded
                : MemorySegment.ofArray(
                        bounded.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE)); // staged by the driver
        enqueue(stream, () -> {
            memory.requireLive("a copy", target, bytes);
            memory.write(target, read);
        });
    }

    @Override
    public synchronized void copyOut(MemorySegment target, long source, long bytes, long stream) {
        callInContext("cuMemcpyDtoHAsync");
        memory.requireLive("a copy", source, bytes);
        MemorySegment bounded = target.asSlice(0, bytes);
        enqueue(stream, () -> memory.read(source, bounded));
    }

    @Override
    public synchronized long createStream(boolean goesFirst) {
        callInContext("cuStreamCreateWithPriority");
        long stream = handle();
        streams.put(stream, new ArrayDeque<>());
        return stream;
    }

    @Override
    public synchronized void destroyStream(long stream) {
        callInContext("cuStreamDestroy");
        runAll();
        if (streams.remove(stream) == null) {
            throw new AssertionError("there is no stream " + stream);
        }
    }

    private Deque<Runnable> work(long stream) {
        Deque<Runnable> work = streams.get(stream);
        if (work == null) {
            throw new AssertionError("there is no stream " + stream);
        }
        return work;
    }

    private void enqueue(long stream, Runnable work) {
        Deque<Runnable> queue = work(stream);
        if (capture == null) {
            queue.add(work);
        } else {
            capture.add(work);
        }
    }

    private void runAll() {
        if (capture != null) {
            throw new AssertionError("the host waits while a graph is recorded");
        }
        for (Deque<Runnable> queue : streams.values()) {
            while (!queue.isEmpty()) {
                queue.remove().run();
            }
        }
    }

    @Override
    public synchronized void synchronize(long stream) {
        Deque<Runnable> work = work(stream);
        try {
            callInContext("cuStreamSynchronize");
        } catch (DeviceException failure) {
            work.clear(); // what was under way is lost
            records.clear();
            throw failure;
        }
        runAll();
    }

    @Override
    public synchronized long createEvent() {
        callInContext("cuEventCreate");
        long event = handle();
        events.put(event, 0L);
        return event;
    }

    @Override
    public synchronized void destroyEvent(long event) {
        callInContext("cuEventDestroy");
        if (events.remove(event) == null) {
            throw new AssertionError("there is no event " + event);
        }
    }

    @Override
    public synchronized void recordEvent(long event, long stream) {
        callInContext("cuEventRecord");
        long record = handle();
        records.put(event, record);
        enqueue(stream, () -> {
            events.put(event, System.nanoTime());
            records.remove(event, record);
        });
    }

    @Override
    public synchronized void awaitEvent(long event) {
        callInContext("cuEventSynchronize");
        if (capture != null) {
            throw new AssertionError("the host waits while a graph is recorded");
        }
        for (Deque<Runnable> queue : streams.values()) {
            while (!queue.isEmpty() && records.containsKey(event)) {
                queue.remove().run();
            }
        }
    }

    @Override
    public synchronized float elapsedMillis(long start, long end) {
        callInContext("cuEventElapsedTime");
        return (events.getOrDefault(end, 0L) - events.getOrDefault(start, 0L)) / 1e6f;
    }

    @Override
    public synchronized long loadModule(byte[] cubin) {
        callInContext("cuModuleLoadData");
        long module = handle();
        kernels.load(module, cubin);
        return module;
    }

    @Override
    public synchronized void unloadModule(long module) {
        callInContext("cuModuleUnload");
        kernels.unload(module);
    }

    @Override
    public synchronized long function(long module, String name) {
        callInContext("cuModuleGetFunction(" + name + ")");
        long function = handle();
        kernels.function(function, module, name);
        return function;
    }

    @Override
    public synchronized void allowSharedMemory(long function, int bytes) {
        callInContext("cuFuncSetAttribute");
        kernels.allow(function, bytes);
    }

    @Override
    public synchronized void encodeTensorMap(MemorySegment map, Matrix matrix, int boxRows, int boxColumns) {
        call("cuTensorMapEncodeTiled");
        boolean isAligned = map.address() % 64 == 0 && matrix.address() % 16 == 0 && matrix.rowBytes() % 16 == 0;
        boolean isBox = boxRows >= 1 && boxRows <= 256 && (boxColumns == 64 || boxColumns == 32);
        if (card.major < 9 || !isAligned || !isBox || matrix.rows() < 1 || matrix.columns() < 1) {
            throw new AssertionError(
                    "a tensor map of " + matrix + " in boxes of " + boxRows + " x " + boxColumns + " on " + card.name);
        }
        long last = (matrix.rows() - 1L) * matrix.rowBytes() + (long) matrix.columns() * Short.BYTES;
        memory.requireAddresses("a tensor map", matrix.address(), last);
        map.asSlice(0, 128).fill((byte) 0);
        map.set(JAVA_LONG, 0, matrix.address());
    }

    @Override
    public synchronized void launch(MemorySegment config, long function, MemorySegment parameters) {
        callInContext("cuLaunchKernelEx");
        FakeKernels.Launch launch = kernels.launch(config, function, parameters);
        enqueue(config.get(JAVA_LONG, 32), () -> run(launch));
    }

    private void run(FakeKernels.Launch launch) {
        for (long address : launch.addresses()) {
            memory.requireLive(launch.kernel().name(), address, 1);
        }
        if (launch.kernel().name().equals("receive")) {
            reach.receive(launch);
            return;
        }
        launches.add(launch);
        computing.accept(launch);
    }

    private void compute(FakeKernels.Launch launch) {
        for (int row = 0;
                launch.kernel().name().equals("sample") && row < launch.grid().y();
                row++) {
            reach.writeInt(launch.value("results") + SampleResultLayout.BYTES * row, token);
        }
    }

    @Override
    public synchronized void beginCapture(long stream) {
        callInContext("cuStreamBeginCapture");
        work(stream);
        if (capture != null) {
            throw new AssertionError("a graph is being recorded already");
        }
        capture = new ArrayList<>();
    }

    @Override
    public synchronized long endCapture(long stream) {
        List<Runnable> recorded = capture;
        capture = null; // however it ends
        callInContext("cuStreamEndCapture");
        if (recorded == null) {
            throw new AssertionError("no graph is being recorded");
        }
        long graph = handle();
        graphs.put(graph, recorded);
        return graph;
    }

    @Override
    public synchronized void abandonCapture(long stream) {
        capture = null;
    }

    @Override
    public synchronized void launchGraph(long graph, long stream) {
        callInContext("cuGraphLaunch");
        List<Runnable> recorded = graphs.get(graph);
        if (recorded == null) {
            throw new AssertionError("there is no graph " + graph);
        }
        recorded.forEach(work -> enqueue(stream, work));
    }

    @Override
    public synchronized void destroyGraph(long graph) {
        callInContext("cuGraphExecDestroy");
        if (graphs.remove(graph) == null) {
            throw new AssertionError("there is no graph " + graph);
        }
    }
}
