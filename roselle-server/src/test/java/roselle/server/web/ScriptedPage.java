package roselle.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.hub.BundledModel;
import roselle.server.answer.Models;
import roselle.server.answer.Readiness;
import roselle.server.config.ListenOptions;
import roselle.server.config.ServedModel;
import roselle.server.config.ServerConfig;
import roselle.server.http.HttpListener;
import roselle.server.http.Routes;
import roselle.server.http.Turns;
import roselle.server.openai.common.OpenAiConventions;

/** The page in a browser, in front of an API whose answers the tests write; one browser serves many tests. */
final class ScriptedPage implements AutoCloseable {
    private final Browser browser;
    private final Engine engine;
    private ScriptedApi api;
    private ScriptedTools tools;
    private HttpListener listener;

    ScriptedPage(Path folder) throws Exception {
        browser = new Browser(folder.resolve("profile"));
        engine = Engine.open(EngineConfig.of(BundledModel.DEMO.unpackInto(Path.of("target", "models"))));
        begin();
    }

    private void begin() {
        var log = new RequestLog();
        var model = new ServedModel("scripted", engine);
        api = new ScriptedApi(log, model);
        tools = new ScriptedTools();
        var routes = new Routes(OpenAiConventions.COMPLETIONS);
        routes.add(new WebDialect(new Models(List.of(model)), new Readiness(), log, tools))
                .add(api);
        listener =
                HttpListener.start(ServerConfig.DEFAULT.with(new ListenOptions("127.0.0.1", 0)), routes, Turns::atOnce);
    }

    /** Opens the page on a port of its own, which is a new origin: its storage is empty. */
    void open() {
        listener.close();
        begin();
        browser.resize(1100, 800);
        browser.open(uri());
        browser.untilTrue("document.querySelector('#model').value === 'scripted'");
    }

    /** Leaves the page, whose console must have told of nothing but refused requests. */
    void leave() {
        browser.leave(); // else the page may ask a server that has ended
        var console = browser.console();
        listener.close();
        assertThat(console.stream().filter(line -> !line.contains("status of 4")))
                .as("the browser's console")
                .isEmpty();
    }

    URI uri() {
        return URI.create("http://127.0.0.1:" + listener.port() + "/");
    }

    Browser browser() {
        return browser;
    }

    ScriptedApi api() {
        return api;
    }

    ScriptedTools tools() {
        return tools;
    }

    /** Asks, and waits until the answer has ended. */
    void ask(String question, String... pieces) {
        api.next(pieces);
        browser.type("#prompt", question + Browser.ENTER);
        untilIdle();
    }

    void untilIdle() {
        browser.untilTrue("document.querySelector('#stop').hidden && document.querySelector('.assistant')");
    }

    /** The latest answer, as a reader sees it. */
    String answer() {
        return browser.script("return [...document.querySelectorAll('.assistant .markdown')].at(-1).innerText")
                .stringValue();
    }

    @Override
    public void close() {
        browser.close();
        engine.close();
        listener.close();
    }
}
