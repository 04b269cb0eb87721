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
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.ObjectName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import roselle.engine.Engine;
import roselle.hub.BundledModel;
import roselle.spring.autoconfigure.RoselleAutoConfiguration;

/**
 * Hundreds of applications, one after the other in one JVM, leave nothing behind: no threads, files, mappings, and no memory.
 *
 * <p>Memory is judged by its trend: the median of the slopes between all pairs of samples, which what one of them happened to
 * have does not move. Live objects are counted by the collector, because the bytes that a heap has in use after a collection
 * count whole buffers of threads, some of them MiB large. What it fills the places of the dead with is not counted: it leaves
 * some unmoved, as many bytes as an engine has and more, when it finds that moving the living is not worth the room.
 */
@Tag("long")
@EnabledOnOs(OS.LINUX)
class RestartsTest {
    /** After which classes are loaded and compiled, and caches filled. */
    private static final int WARMING = 100;

    private static final int SAMPLES = 9;
    private static final int BETWEEN = 25;
    /** How often engines are counted. */
    private static final int COUNTS = 10;
    /** Bytes of live objects that a restart may leave behind; a closed engine that is held has 3.6 MB. Measured: 180. */
    private static final double HEAP = 4 << 10;
    /** The same of memory outside the heap, where an engine has 28 MB; the JVM's compilers have some, too. */
    private static final double NATIVE = 256 << 10;

    private static final Pattern ROW = Pattern.compile("^ *\\d+: +(\\d+) +(\\d+) +(?:\\[+L)?(\\S+)");
    /** How the names of the collectors' classes begin that stand for what is dead. */
    private static final String FILLER = "jdk.internal.vm.Filler";

    /** What a process holds. */
    private record Holdings(long threads, long files, long mappingsOfModels, long live, long allocated) {
        static Holdings count() throws IOException, JMException {
            long threads = Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().startsWith("roselle"))
                    .count();
            var system = (UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
            long mappings = Files.readAllLines(Path.of("/proc/self/maps")).stream()
                    .filter(line -> line.contains(".gguf"))
                    .count();
            long live = liveBytes();
            return new Holdings(threads, system.getOpenFileDescriptorCount(), mappings, live, Allocated.bytes());
        }

        private static long liveBytes() throws JMException {
            return histogram()
                    .filter(row -> !row.name().startsWith(FILLER))
                    .mapToLong(Row::bytes)
                    .sum();
        }

        /** Engines that no collection takes; one of them may find a thread that has ended but is not gone, with its engine. */
        static long engines() throws JMException {
            long least = Long.MAX_VALUE;
            for (int count = 0; count < COUNTS; count++) {
                long found = histogram()
                        .filter(row -> row.name().equals(Engine.class.getName()))
                        .mapToLong(Row::instances)
                        .sum();
                least = Math.min(least, found);
            }
            return least;
        }

        /** The classes of live objects, after a collection. */
        private static Stream<Row> histogram() throws JMException {
            var histogram = (String) ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                            new ObjectName("com.sun.management:type=DiagnosticCommand"),
                            "gcClassHistogram",
                            new Object[] {new String[0]},
                            new String[] {String[].class.getName()});
            return histogram.lines().map(ROW::matcher).filter(Matcher::find).map(Row::of);
        }

        /** One line: {@code 12: 345 6789 java.lang.String (java.base@25)}; arrays are named as their elements. */
        private record Row(long instances, long bytes, String name) {
            static Row of(MatchResult row) {
                return new Row(Long.parseLong(row.group(1)), Long.parseLong(row.group(2)), row.group(3));
            }
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
    void leaveNothingBehind() throws IOException, JMException {
        Path model = BundledModel.DEMO.unpackInto(Path.of("target", "models"));
        restart(model, WARMING);
        var samples = new ArrayList<Holdings>();
        for (int sample = 0; sample < SAMPLES; sample++) {
            restart(model, BETWEEN);
            samples.add(Holdings.count());
            System.out.println(samples.getLast());
        }

        assertThat(samples).allSatisfy(sample -> {
            assertThat(sample.threads()).as("threads of engines").isZero();
            assertThat(sample.mappingsOfModels()).as("mappings of the model").isZero();
        });
        assertThat(samples.getLast().files())
                .as("open files")
                .isLessThanOrEqualTo(samples.getFirst().files() + 2); // the JVM opens its own at times
        assertThat(Holdings.engines()).as("engines").isZero();
        assertThat(trend(samples, Holdings::live)).as("live bytes of a restart").isLessThan(HEAP);
        assertThat(trend(samples, Holdings::allocated))
                .as("native bytes of a restart")
                .isLessThan(NATIVE);
    }

    /** What is added by a restart: the median of the slopes of all pairs (Theil and Sen). */
    private static double trend(List<Holdings> samples, ToLongFunction<Holdings> of) {
        var slopes = new ArrayList<Double>();
        for (int later = 1; later < samples.size(); later++) {
            for (int sample = 0; sample < later; sample++) {
                long added = of.applyAsLong(samples.get(later)) - of.applyAsLong(samples.get(sample));
                slopes.add((double) added / (BETWEEN * (later - sample)));
            }
        }
        slopes.sort(null);
        System.out.printf("median of %s%n", slopes);
        return slopes.get(slopes.size() / 2);
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
