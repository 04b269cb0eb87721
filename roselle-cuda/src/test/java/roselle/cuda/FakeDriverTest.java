package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import roselle.cuda.FakeDriver.Card;
import roselle.cuda.kernel.Kernel;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.memory.Gpu;

/** The fake driver finds what a real one would not forgive. */
class FakeDriverTest {
    private final FakeDriver driver = new FakeDriver(Card.AMPERE);
    private final Gpu device = new Gpu(driver, 0, true);
    private final Arena arena = Arena.ofShared();
    private final Launcher launcher = new Launcher(device, arena);
    private final Kernels kernels = new Kernels(device, FakeKernels::cubin);

    @AfterEach
    void close() {
        arena.close();
    }

    private static void assertFound(String what, ThrowingCallable fault) {
        assertThatThrownBy(fault).isInstanceOf(AssertionError.class).hasMessageContaining(what);
    }

    /** A right launch of {@code copy_page} up to its last parameter, after one that makes the fake know the slots. */
    private Launcher copyPage(long address) {
        Kernel kernel = kernels.kernel(KernelSource.GENERIC_ROWS, "copy_page");
        launcher.of(kernel)
                .pointer(address)
                .wide(16)
                .wide(16)
                .integer(0)
                .integer(1)
                .launch(1, 1, 1, 256);
        return launcher.of(kernel).pointer(address).wide(16).wide(16).integer(0);
    }

    @Test
    void findsParametersThatTheKernelDoesNotDeclareSo() {
        long address = device.memory().allocate(4096);
        copyPage(address).integer(1).launch(1, 1, 1, 256);
        assertFound(
                "parameter 4 (int to) was not given", () -> copyPage(address).launch(1, 1, 1, 256));
        assertFound("was given 8 bytes", () -> copyPage(address).wide(1).launch(1, 1, 1, 256));
        assertFound(
                "more than 5 parameters",
                () -> copyPage(address).integer(1).integer(1).launch(1, 1, 1, 256));
        assertFound(
                "not inside allocated memory", () -> copyPage(1234).integer(1).launch(1, 1, 1, 256));
        Kernel kernel = kernels.kernel(KernelSource.GENERIC_ROWS, "copy_page");
        assertFound(
                "was given 4 bytes",
                () -> launcher.of(kernel)
                        .integer(3)
                        .wide(16)
                        .wide(16)
                        .integer(0)
                        .integer(1)
                        .launch(1, 1, 1, 256));
        assertFound(
                "was given an address",
                () -> launcher.of(kernel)
                        .pointer(address)
                        .wide(address)
                        .wide(16)
                        .integer(0)
                        .integer(1)
                        .launch(1, 1, 1, 256));
    }

    @Test
    void findsLaunchesBeyondTheLimitsOfCardAndKernel() {
        long address = device.memory().allocate(4096);
        assertFound("70000 blocks along y", () -> copyPage(address).integer(1).launch(1, 70_000, 1, 256));
        assertFound("0 blocks along x", () -> copyPage(address).integer(1).launch(0, 1, 1, 256));
        assertFound("blocks of 512 threads", () -> copyPage(address).integer(1).launch(1, 1, 1, 512));
        assertFound("clusters", () -> copyPage(address).integer(1).cluster(2).launch(2, 1, 1, 256));
        assertFound(
                "200000 bytes of shared memory",
                () -> copyPage(address).integer(1).shared(200_000).launch(1, 1, 1, 256));
        assertFound("has no kernel copy_pages", () -> kernels.kernel(KernelSource.GENERIC_ROWS, "copy_pages"));
    }

    @Test
    void findsMemoryThatIsGoneOrTooSmall() {
        long address = driver.allocate(4096);
        try (Arena host = Arena.ofConfined()) {
            MemorySegment source = host.allocate(8192);
            assertFound("reaches 4097 bytes", () -> driver.copyIn(address, source, 4097, device.stream()));
        }
        copyPage(address);
        driver.free(address);
        assertFound("is free already", () -> driver.free(address));
        assertFound("not inside allocated memory", () -> driver.clear(address, 1, device.stream()));
        assertThat(driver.leaks()).isEqualTo("1 modules; 1 streams; 1 users of the context; ");
    }

    @Test
    void copiesPinnedMemoryNoSoonerThanItMust() {
        long address = driver.allocate(16);
        MemorySegment pinned = driver.allocatePinned(16);
        MemorySegment back = driver.allocatePinned(16);
        pinned.set(ValueLayout.JAVA_LONG, 8, 5);
        driver.copyIn(address, pinned, 16, device.stream());
        pinned.set(ValueLayout.JAVA_LONG, 8, 6); // too early
        driver.copyOut(back, address, 16, device.stream());
        assertThat(back.get(ValueLayout.JAVA_LONG, 8)).isZero();
        driver.synchronize(device.stream());
        assertThat(back.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(6);
    }

    @Test
    void findsThreadsWithoutTheContext() throws InterruptedException {
        var found = new Throwable[1];
        Thread other = Thread.ofPlatform().start(() -> {
            try {
                driver.allocate(16);
            } catch (AssertionError failure) {
                found[0] = failure;
            }
        });
        other.join();
        assertThat(found[0]).hasMessageContaining("a thread without a context");
    }

    @Test
    void findsWaitingWhileAGraphIsRecorded() {
        driver.beginCapture(device.stream());
        assertFound("while a graph is recorded", () -> driver.synchronize(device.stream()));
    }
}
