package roselle.quarkus.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.QuarkusDevModeTest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import org.jboss.shrinkwrap.api.asset.StringAsset;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * In development mode a change of the application's sources loads it anew, and not its model.
 *
 * <p>Quarkus resolves what belongs to development when the test begins: Maven must reach its repository the first time.
 */
@Tag("long")
class DevelopmentTest {
    private static final int PORT = freePort();

    @RegisterExtension
    static final QuarkusDevModeTest APPLICATION = new QuarkusDevModeTest()
            .withApplicationRoot(archive -> archive.addClasses(AskedApplication.class)
                    .addAsResource(new StringAsset("""
                                    quarkus.http.port=%d
                                    quarkus.roselle.model=%s
                                    quarkus.roselle.device=cpu
                                    quarkus.roselle.chat.temperature=0
                                    quarkus.roselle.chat.max-tokens=24
                                    """.formatted(PORT, DemoModel.file())), "application.properties"));

    private static int freePort() {
        try (var socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static String ask() throws IOException, InterruptedException {
        try (HttpClient client =
                HttpClient.newBuilder().version(Version.HTTP_1_1).build()) {
            return client.send(
                            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + PORT + "/ask"))
                                    .build(),
                            BodyHandlers.ofString())
                    .body();
        }
    }

    private static String part(String answer, int number) {
        return answer.split("\n", -1)[number];
    }

    @Test
    void keepsTheModelAcrossReloads() throws IOException, InterruptedException {
        String before = ask();
        assertThat(part(before, 0)).contains("42");

        APPLICATION.modifySourceFile(
                AskedApplication.class, text -> text.replace("What is 12 + 30?", "What is 20 + 3?"));
        String after = ask();
        assertThat(part(after, 0)).as(after).contains("23");
        assertThat(part(after, 1)).as("the application's own class").isNotEqualTo(part(before, 1));
        assertThat(part(after, 2)).as("the engine").isEqualTo(part(before, 2));

        APPLICATION.modifyResourceFile("application.properties", text -> text + "quarkus.roselle.max-sequences=2\n");
        String configured = ask();
        assertThat(part(configured, 0)).as(configured).contains("23");
        assertThat(part(configured, 2)).as("the engine").isNotEqualTo(part(after, 2));
    }
}
