package roselle.spring;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.UnixOperatingSystemMXBean;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import roselle.hub.BundledModel;
import roselle.spring.autoconfigure.RoselleAutoConfiguration;

/** A hundred applications, one after the other in one JVM, leave nothing behind: no threads, files, mappings, and no memory. */
@Tag("manual")
@EnabledOnOs(OS.LINUX)
class RestartsTest {
    private static final int HALF = 50;
    /** Of the live heap, bytes that the second half of the restarts may add; measured: 12,000. One that leaks adds more than 1 MiB. */
    private static final long HEAP = 1 << 20;
    /** The same of memory outside the heap, where one engine of this test has 28 MB; a compiler at work has some, too. */
    private static final long NATIVE = 16 << 20;
    /** A leak stays, and what something else had for a moment goes: so often it is looked at before it is called a leak. */
    private static final int LOOKS = 50;

    /** What a process holds. */
    private record Holdings(long threads, long files, long mappingsOfModels, long heap, long allocated) {
        static Holdings count() throws IOException {
            System.gc();
            long threads = Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().startsWith("roselle"))
                    .count();
            var system = (UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
            long mappings = Files.readAllLines(Path.of("/proc/self/maps")).stream()
                    .filter(line -> line.contains(".gguf"))
                    .count();
            long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
            return new Holdings(threads, system.getOpenFileDescriptorCount(), mappings, heap, Allocated.bytes());
        }

        boolean hasNoMoreMemoryThan(Holdings before) {
            return heap <= before.heap + HEAP && allocated <= before.allocated + NATIVE;
        }
    }

    /** What C's allocator has given out in this process, which arenas take theirs from: {@code mallinfo2} of glibc. */
    private static final class Allocated {
        /** Ten counts of bytes and pieces, in this order. */
        private static final StructLayout INFO = MemoryLayout.structLayout(Stream.of(
                        "arena",
                        "ordblks",
                        "smblks",
                        "hblks",
                        "hblkhd",
                        "usmblks",
                        "fsmblks",
                        "uordblks",
                        "fordblks",
                        "keepcost")
                .map(name -> (MemoryLayout) ValueLayout.JAVA_LONG.withName(name))
                .toArray(MemoryLayout[]::new));

        /** In pieces of the allocator's own and in mappings; 0 where C's library is another one. */
        @SuppressWarnings("restricted") // reads counts
        static long bytes() {
            Linker linker = Linker.nativeLinker();
            var function = linker.defaultLookup().find("mallinfo2");
            if (function.isEmpty()) {
                return 0;
            }
            try (var arena = Arena.ofConfined()) {
                var info = (MemorySegment) linker.downcallHandle(function.get(), FunctionDescriptor.of(INFO))
                        .invokeExact((SegmentAllocator) arena);
                return of(info, "uordblks") + of(info, "hblkhd");
            } catch (Throwable failure) {
                throw new IllegalStateException(failure);
            }
        }

        private static long of(MemorySegment info, String name) {
            return info.get(ValueLayout.JAVA_LONG, INFO.byteOffset(PathElement.groupElement(name)));
        }
    }

    @Test
    void leaveNothingBehind() throws IOException {
        Path model = BundledModel.DEMO.unpackInto(Path.of("target", "models"));
        restart(model, HALF); // classes are loaded and compiled, and caches filled
        Holdings before = Holdings.count();
        restart(model, HALF);
        Holdings after = Holdings.count();
        System.out.println(before + " " + after);

        assertThat(after.threads()).as("threads of engines").isZero();
        assertThat(after.mappingsOfModels()).as("mappings of the model").isZero();
        assertThat(after.files())
                .as("open files")
                .isLessThanOrEqualTo(before.files() + 2); // the JVM opens its own at times
        for (int look = 0; look < LOOKS && !after.hasNoMoreMemoryThan(before); look++) {
            after = Holdings.count();
        }
        assertThat(after.heap()).as("live heap").isLessThanOrEqualTo(before.heap() + HEAP);
        assertThat(after.allocated()).as("native memory").isLessThanOrEqualTo(before.allocated() + NATIVE);
    }

    private static void restart(Path model, int times) {
        for (int time = 0; time < times; time++) {
            try (var application = new AnnotationConfigApplicationContext()) {
                TestPropertyValues.of(
                                "spring.ai.roselle.model=" + model,
                                "spring.ai.roselle.device=cpu",
                                "spring.ai.roselle.context=128",
                                "spring.ai.roselle.max-sequences=2",
                                "spring.ai.roselle.chat.temperature=0",
                                "spring.ai.roselle.chat.max-tokens=2")
                        .applyTo(application);
                application.register(RoselleAutoConfiguration.class);
                application.refresh();
                assertThat(application.getBean(ChatModel.class).call("Hi")).isNotEmpty();
            }
        }
    }
}
