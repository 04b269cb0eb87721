package roselle.spring;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.UnixOperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import roselle.hub.BundledModel;
import roselle.spring.autoconfigure.RoselleAutoConfiguration;

/** A hundred applications, one after the other in one JVM, leave behind what ten do: threads, open files, mappings. */
@Tag("manual")
@EnabledOnOs(OS.LINUX)
class RestartsTest {
    private static final int FIRST = 10;
    private static final int RESTARTS = 100;

    /** What a process holds that its heap does not tell. */
    private record Holdings(long threads, long files, long mappingsOfModels) {
        static Holdings count() throws IOException {
            System.gc();
            long threads = Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().startsWith("roselle"))
                    .count();
            var system = (UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
            long mappings = Files.readAllLines(Path.of("/proc/self/maps")).stream()
                    .filter(line -> line.contains(".gguf"))
                    .count();
            return new Holdings(threads, system.getOpenFileDescriptorCount(), mappings);
        }
    }

    @Test
    void leaveNothingBehind() throws IOException {
        Path model = BundledModel.DEMO.unpackInto(Path.of("target", "models"));
        restart(model, FIRST);
        Holdings before = Holdings.count();
        restart(model, RESTARTS);
        Holdings after = Holdings.count();

        assertThat(after.threads()).as("threads of engines").isZero();
        assertThat(after.mappingsOfModels()).as("mappings of the model").isZero();
        assertThat(after.files())
                .as("open files")
                .isLessThanOrEqualTo(before.files() + 2); // the JVM opens its own at times
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
