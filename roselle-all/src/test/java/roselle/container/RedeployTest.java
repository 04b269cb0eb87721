package roselle.container;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.catalina.Context;
import org.apache.catalina.Wrapper;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.startup.Tomcat;
import org.apache.catalina.webresources.DirResourceSet;
import org.apache.catalina.webresources.JarResourceSet;
import org.apache.catalina.webresources.StandardRoot;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Web applications with Roselle among their own libraries, in one servlet container: side by side, taken away, brought back. */
@Tag("long")
final class RedeployTest {
    private static final int COLLECTIONS = 50;

    @TempDir
    private Path folder;

    private final Tomcat tomcat = new Tomcat();

    @BeforeEach
    void start() throws Exception {
        tomcat.setBaseDir(folder.toString());
        tomcat.setPort(0);
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        tomcat.start();
    }

    @AfterEach
    void stop() throws Exception {
        tomcat.stop();
        tomcat.destroy();
    }

    @Test
    void applicationsComeAndGo() throws Exception {
        deploy("/stays");
        Set<String> threads = threads();
        deploy("/goes");
        String answer = ask("/stays");
        assertThat(answer).contains("42");
        assertThat(ask("/goes")).isEqualTo(answer);

        assertGone(undeploy("/goes"));
        assertThat(ask("/stays")).isEqualTo(answer);
        assertThat(threads()).as("threads of the application that went").isEqualTo(threads);

        deploy("/goes");
        assertThat(ask("/goes")).isEqualTo(answer);
        assertGone(undeploy("/goes"));
        assertGone(undeploy("/stays"));
        assertThat(threads()).isEmpty();
    }

    /** Nothing holds an application's classes any more, no thread of whatever name either; caches of the JDK hold them softly. */
    private static void assertGone(WeakReference<ClassLoader> loader) {
        assertThat(Thread.getAllStackTraces().keySet())
                .as("threads that began in the application")
                .noneMatch(thread ->
                        thread.getContextClassLoader() != null && loader.refersTo(thread.getContextClassLoader()));
        assertThat(isCollected(loader))
                .as("the class loader of the application is collected")
                .isTrue();
    }

    /** Those of engines: a container's come and go with requests. */
    private static Set<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("roselle"))
                .map(thread -> thread.getName() + " " + thread.threadId())
                .collect(Collectors.toSet());
    }

    private void deploy(String path) throws IOException {
        Path base = Files.createDirectories(folder.resolve("webapps" + path));
        var context = new StandardContext();
        context.setName(path);
        context.setPath(path);
        context.setDocBase(base.toString());
        context.addLifecycleListener(new Tomcat.FixContextListener());
        var resources = new StandardRoot(context);
        for (Path entry : libraries()) {
            resources.addJarResources(
                    Files.isDirectory(entry)
                            ? new DirResourceSet(resources, "/WEB-INF/classes", entry.toString(), "/")
                            : new JarResourceSet(resources, "/WEB-INF/classes", entry.toString(), "/"));
        }
        context.setResources(resources);
        Wrapper servlet = Tomcat.addServlet(context, "ask", AskServlet.class.getName());
        servlet.setLoadOnStartup(1);
        servlet.addMapping("/ask");
        tomcat.getHost().addChild(context); // which starts it
        if (!context.getState().isAvailable()) {
            throw new IllegalStateException(path + " is " + context.getStateName());
        }
    }

    /** Our classes, this test's servlet, and what they need: each application has its own of all. */
    private static List<Path> libraries() {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .filter(entry -> entry.contains("roselle") || entry.contains("jackson") || entry.contains("jspecify"))
                .map(Path::of)
                .filter(Files::exists)
                .toList();
    }

    private WeakReference<ClassLoader> undeploy(String path) throws Exception {
        Context context = (Context) tomcat.getHost().findChild(path);
        var loader = new WeakReference<>(context.getLoader().getClassLoader());
        assertThat(loader.get()).isNotSameAs(RedeployTest.class.getClassLoader());
        context.stop();
        tomcat.getHost().removeChild(context);
        context.destroy();
        return loader;
    }

    private static boolean isCollected(WeakReference<ClassLoader> loader) {
        for (int count = 0; count < COLLECTIONS && loader.get() != null; count++) {
            System.gc();
        }
        return loader.get() == null;
    }

    private String ask(String path) throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            URI address = URI.create("http://127.0.0.1:" + tomcat.getConnector().getLocalPort() + path
                    + "/ask?question=What+is+12+%2B+30%3F");
            var response = client.send(HttpRequest.newBuilder(address).build(), BodyHandlers.ofString());
            assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
            return response.body();
        }
    }
}
