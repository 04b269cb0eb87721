package roselle.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.hub.BundledModel;
import roselle.server.Server;
import roselle.server.config.ListenOptions;
import roselle.server.config.ServedModel;
import roselle.server.config.ServerConfig;

/** The page in a browser, in front of the demo model. */
@NeedsPrograms({"chromedriver", "chromium"})
final class WebServerTest {
    @TempDir
    private Path folder;

    @Test
    void theDemoModelTellsAStoryAndTheDashboardShowsIt() throws IOException {
        var config = ServerConfig.DEFAULT.with(new ListenOptions("127.0.0.1", 0));
        try (var browser = new Browser(folder.resolve("profile"));
                var engine = Engine.open(EngineConfig.of(BundledModel.DEMO.unpackInto(Path.of("target", "models"))));
                var server = Server.start(config, new ServedModel("demo", engine))) {
            browser.open(server.uri());
            browser.untilTrue("document.querySelector('#model').value === 'demo'"); // the page asks which there are
            browser.type("#prompt", "Tell me a story about a fox." + Browser.ENTER);
            browser.untilTrue("document.querySelector('#stop').hidden && document.querySelector('.assistant')");

            assertThat(browser.text(".assistant .markdown")).containsIgnoringCase("fox");
            browser.untilTrue("document.querySelector('.figures').innerText.includes('tokens/s')");
            assertThat(browser.text(".figures")).contains("first token", "tokens/s");
            picture(browser, "chat.png");
            browser.script("location.hash = '#dashboard'");
            browser.untilTrue("document.querySelectorAll('.requests tbody tr').length === 1");
            assertThat(browser.text(".requests tbody")).contains("demo", "done");
            picture(browser, "dashboard.png");
        }
    }

    /** The pictures of the guide are made here: copy them from the build folder when the page has changed. */
    private static void picture(Browser browser, String name) throws IOException {
        Path pictures = Files.createDirectories(Path.of("target", "pictures"));
        Files.write(pictures.resolve(name), browser.screenshot());
    }
}
