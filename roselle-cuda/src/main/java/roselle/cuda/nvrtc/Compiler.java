package roselle.cuda.nvrtc;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import roselle.api.DeviceException;
import roselle.cuda.driver.NativeCall;
import roselle.cuda.driver.NativeLibrary;

/** NVRTC, {@code libnvrtc.so}: it needs no device. */
@SuppressWarnings("restricted")
public final class Compiler {
    private static final String ADVICE =
            "it, or libnvrtc.so.12, comes with the CUDA toolkit 12.8 or newer, and with pip install nvidia-cuda-nvrtc; set CUDA_HOME"
                    + " to where it is";
    private static final List<String> MAJOR_VERSIONS = List.of("13", "12");
    private static final List<String> BUILTINS = List.of("13.3", "13.2", "13.1", "13.0", "12.9", "12.8");

    private final NativeLibrary library;
    private final MethodHandle errorString;
    private final MethodHandle create;
    private final MethodHandle compile;
    private final MethodHandle destroy;
    private final MethodHandle logSize;
    private final MethodHandle log;
    private final MethodHandle cubinSize;
    private final MethodHandle cubin;

    /** What a compilation gave: the machine code, and the compiler's warnings. */
    public static final class Result {
        private final byte[] cubin;
        private final String log;

        private Result(byte[] cubin, String log) {
            this.cubin = cubin;
            this.log = log;
        }

        /** The machine code, which the caller may keep. */
        public byte[] cubin() {
            return cubin.clone();
        }

        /** Empty where there was nothing to warn of. */
        public String log() {
            return log;
        }
    }

    /**
     * Finds and loads the compiler.
     *
     * @throws DeviceException if it is not there
     */
    public Compiler() {
        loadBuiltins();
        library = open();
        errorString = library.function("nvrtcGetErrorString", FunctionDescriptor.of(ADDRESS, JAVA_INT));
        create = bind("nvrtcCreateProgram", ADDRESS, ADDRESS, ADDRESS, JAVA_INT, ADDRESS, ADDRESS);
        compile = bind("nvrtcCompileProgram", JAVA_LONG, JAVA_INT, ADDRESS);
        destroy = bind("nvrtcDestroyProgram", ADDRESS);
        logSize = bind("nvrtcGetProgramLogSize", JAVA_LONG, ADDRESS);
        log = bind("nvrtcGetProgramLog", JAVA_LONG, ADDRESS);
        cubinSize = bind("nvrtcGetCUBINSize", JAVA_LONG, ADDRESS);
        cubin = bind("nvrtcGetCUBIN", JAVA_LONG, ADDRESS);
    }

    private MethodHandle bind(String name, MemoryLayout... parameters) {
        return library.function(name, FunctionDescriptor.of(JAVA_INT, parameters));
    }

    /** The compiler looks for its builtins by name alone, which finds them only where they are loaded already. */
    private static void loadBuiltins() {
        Optional<NativeLibrary> first = Optional.empty();
        for (int i = 0; i < BUILTINS.size() && first.isEmpty(); i++) {
            first = NativeLibrary.find("libnvrtc-builtins.so." + BUILTINS.get(i));
        }
    }

    private static NativeLibrary open() {
        for (String major : MAJOR_VERSIONS) {
            Optional<NativeLibrary> found = NativeLibrary.find("libnvrtc.so." + major);
            if (found.isPresent()) {
                return found.get();
            }
        }
        return NativeLibrary.open("libnvrtc.so." + MAJOR_VERSIONS.getFirst(), ADVICE);
    }

    private void check(String name, NativeCall call) {
        int error = NativeCall.errorOf(call);
        if (error != 0) {
            throw new DeviceException("NVRTC's " + name + " failed: " + describe(error));
        }
    }

    private String describe(int error) {
        try {
            MemorySegment text = (MemorySegment) errorString.invokeExact(error);
            return text.reinterpret(256).getString(0) + " (" + error + ")";
        } catch (Throwable impossible) {
            throw new AssertionError("a native call threw", impossible);
        }
    }

    /**
     * Compiles one source for one architecture.
     *
     * @param name of the source, for messages
     * @param headers the text of each file that may be included, by its name
     * @param architecture {@code sm_90a}
     * @throws DeviceException with the compiler's log if the source does not compile
     */
    public Result compile(String name, String source, Map<String, String> headers, String architecture) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment handle = arena.allocate(JAVA_LONG);
            List<String> names = List.copyOf(headers.keySet());
            List<String> texts = names.stream().map(headers::get).toList();
            MemorySegment code = arena.allocateFrom(source);
            MemorySegment title = arena.allocateFrom(name);
            MemorySegment headerTexts = strings(arena, texts);
            MemorySegment headerNames = strings(arena, names);
            check("nvrtcCreateProgram", () ->
                    (int) create.invokeExact(handle, code, title, names.size(), headerTexts, headerNames));
            try {
                return compile(arena, name, handle.get(JAVA_LONG, 0), architecture);
            } finally {
                check("nvrtcDestroyProgram", () -> (int) destroy.invokeExact(handle));
            }
        }
    }

    private Result compile(Arena arena, String name, long program, String architecture) {
        List<String> options = List.of(
                "--gpu-architecture=" + architecture,
                "--std=c++17",
                "-default-device",
                "--ptxas-options=--warn-on-spills");
        MemorySegment array = strings(arena, options);
        int error = NativeCall.errorOf(() -> (int) compile.invokeExact(program, options.size(), array));
        String said = new String(bytes(arena, program, logSize, log), StandardCharsets.UTF_8)
                .replace("\0", "")
                .strip();
        if (error != 0) {
            throw new DeviceException(
                    name + " does not compile for " + architecture + ": " + describe(error) + "\n" + said);
        }
        return new Result(bytes(arena, program, cubinSize, cubin), said);
    }

    private byte[] bytes(Arena arena, long program, MethodHandle sizeOf, MethodHandle contentOf) {
        MemorySegment size = arena.allocate(JAVA_LONG);
        check("nvrtcGet…Size", () -> (int) sizeOf.invokeExact(program, size));
        MemorySegment content = arena.allocate(Math.max(1, size.get(JAVA_LONG, 0)));
        check("nvrtcGet…", () -> (int) contentOf.invokeExact(program, content));
        return content.toArray(JAVA_BYTE);
    }

    private static MemorySegment strings(Arena arena, List<String> texts) {
        MemorySegment array = arena.allocate(ADDRESS, Math.max(1, texts.size()));
        for (int i = 0; i < texts.size(); i++) {
            array.setAtIndex(ADDRESS, i, arena.allocateFrom(texts.get(i)));
        }
        return array;
    }
}
