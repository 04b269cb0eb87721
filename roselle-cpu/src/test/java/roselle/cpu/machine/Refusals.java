package roselle.cpu.machine;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;

/** A system that refuses to make memory executable: a filter of system calls, on a thread of its own, which ends with it. */
@SuppressWarnings("restricted") // tests have native access
public final class Refusals {
    private static final int SET_SECCOMP = 22;
    private static final int FILTER = 2;
    private static final int NO_NEW_PRIVILEGES = 38;

    // of a filter's instructions: load a word of the call, jump if equal or greater, return
    private static final int LOAD = 0x20;
    private static final int IF_EQUAL = 0x15;
    private static final int IF_GREATER = 0x25;
    private static final int RETURN = 0x06;

    private static final int NUMBER_AT = 0;
    private static final int LENGTH_AT = 24;
    private static final int PROTECTION_AT = 32;
    private static final int MPROTECT = 10;
    private static final int NOT_PERMITTED = 0x0005_0001;
    private static final int ALLOWED = 0x7FFF_0000;

    private static final MethodHandle PRCTL = Linker.nativeLinker()
            .downcallHandle(
                    Linker.nativeLinker().defaultLookup().findOrThrow("prctl"),
                    FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG),
                    Linker.Option.firstVariadicArg(1));

    private Refusals() {}

    /** Calls something on a thread that cannot make more than so many bytes of memory executable. */
    public static <T> T ofExecutableMemory(int beyondBytes, Callable<T> called) throws Exception {
        var task = new FutureTask<T>(() -> {
            install(beyondBytes);
            return called.call();
        });
        var thread = new Thread(task, "refused");
        thread.start();
        try {
            return task.get();
        } catch (java.util.concurrent.ExecutionException failure) {
            throw failure.getCause() instanceof Exception cause ? cause : failure;
        } finally {
            thread.join();
        }
    }

    private static void install(int beyondBytes) {
        int[][] filter = {
            {LOAD, 0, 0, NUMBER_AT},
            {IF_EQUAL, 0, 5, MPROTECT},
            {LOAD, 0, 0, PROTECTION_AT},
            {IF_EQUAL, 0, 3, SystemCalls.READ | SystemCalls.EXECUTE},
            {LOAD, 0, 0, LENGTH_AT},
            {IF_GREATER, 0, 1, beyondBytes},
            {RETURN, 0, 0, NOT_PERMITTED},
            {RETURN, 0, 0, ALLOWED}
        };
        try (var arena = Arena.ofConfined()) {
            MemorySegment instructions = arena.allocate(8L * filter.length, 8);
            for (int i = 0; i < filter.length; i++) {
                instructions.set(JAVA_SHORT, 8L * i, (short) filter[i][0]);
                instructions.set(JAVA_BYTE, 8L * i + 2, (byte) filter[i][1]);
                instructions.set(JAVA_BYTE, 8L * i + 3, (byte) filter[i][2]);
                instructions.set(JAVA_INT, 8L * i + 4, filter[i][3]);
            }
            MemorySegment program = arena.allocate(16, 8);
            program.set(JAVA_SHORT, 0, (short) filter.length);
            program.set(ADDRESS, 8, instructions);
            require((int) PRCTL.invokeExact(NO_NEW_PRIVILEGES, 1L, MemorySegment.NULL, 0L, 0L));
            require((int) PRCTL.invokeExact(SET_SECCOMP, (long) FILTER, program, 0L, 0L));
        } catch (RuntimeException failure) {
            throw failure;
        } catch (Throwable failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static void require(int status) {
        assumeTrue(status == 0, "the system takes no filter of system calls");
    }
}
