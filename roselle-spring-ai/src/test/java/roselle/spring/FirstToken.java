package roselle.spring;

import static java.util.Objects.requireNonNull;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Map;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import roselle.spring.autoconfigure.RoselleAutoConfiguration;

/** A Spring Boot application without a web server that asks once, and tells how long it took from its first bean to the first token. */
final class FirstToken {
    private static final double MILLIS = 1e6;

    private FirstToken() {}

    /** The application. */
    @Configuration(proxyBeanMethods = false)
    @Import(RoselleAutoConfiguration.class)
    static class Application {}

    /** Arguments: a model. */
    public static void main(String[] arguments) {
        long[] first = new long[1];
        var application = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .properties(Map.of(
                        "spring.ai.roselle.model", arguments[0],
                        "spring.ai.roselle.device", "cpu",
                        "spring.ai.roselle.context", "1024",
                        "spring.ai.roselle.chat.temperature", "0",
                        "spring.ai.roselle.chat.max-tokens", "8"))
                .initializers(context -> context.addBeanFactoryPostProcessor(beans -> first[0] = System.nanoTime()));
        try (var context = application.run()) {
            long ready = System.nanoTime();
            var model = context.getBean(ChatModel.class);
            requireNonNull(
                    model.stream(new Prompt("Tell me a story about a fox.")).blockFirst());
            long token = System.nanoTime();
            System.out.printf(
                    "first bean to ready %.0f ms, to the first token %.0f ms; the JVM runs for %d ms, of processors' time %.0f%n",
                    (ready - first[0]) / MILLIS,
                    (token - first[0]) / MILLIS,
                    ManagementFactory.getRuntimeMXBean().getUptime(),
                    ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class)
                                    .getProcessCpuTime()
                            / MILLIS);
        }
    }
}
