package roselle.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Tools on the page, in a browser: offered where they are switched on, called where the user agrees. */
@Tag("long")
@NeedsPrograms({"chromedriver", "chromium"})
final class PageToolsTest {
    private static final String WEATHER = ScriptedApi.CALL + "get_weather {\"city\": \"<i>Oslo\"}";
    private static ScriptedPage page;
    private static Browser browser;

    @TempDir
    private static Path folder;

    private ScriptedApi api;

    @BeforeAll
    static void startBrowser() throws Exception {
        page = new ScriptedPage(folder);
        browser = page.browser();
    }

    @AfterAll
    static void stopBrowser() {
        if (page != null) {
            page.close();
        }
    }

    @BeforeEach
    void open() {
        page.open();
        api = page.api();
    }

    @AfterEach
    void leave() {
        page.leave();
    }

    private static void switchOn(String name) {
        browser.untilTrue("!document.querySelector('#tools').hidden");
        browser.script(
                "[...document.querySelectorAll('#tools label')].find(l => l.innerText.trim() === arguments[0])"
                        + ".querySelector('input').click()",
                name);
    }

    private void askForACall() {
        api.next(WEATHER);
        browser.type("#prompt", "the weather?" + Browser.ENTER);
        browser.untilTrue("document.querySelector('.consent')");
    }

    @Test
    void nothingIsOfferedThatIsNotSwitchedOn() throws Exception {
        page.ask("hello", "Hi.");
        assertThat(api.request().has("tools")).isFalse();

        switchOn("get_weather");
        page.ask("again", "Hi.");
        JsonNode offered = api.request().at("/tools");
        assertThat(offered).hasSize(1);
        assertThat(offered.at("/0/function/name").stringValue()).isEqualTo("get_weather");

        browser.click("#new");
        page.ask("elsewhere", "Hi.");
        assertThat(api.request().has("tools")).as("it is that conversation's").isFalse();
    }

    @Test
    void aCallIsShownAskedAboutAndMade() throws Exception {
        switchOn("get_weather");
        askForACall();

        assertThat(page.tools().made()).as("before the user agrees").isEmpty();
        assertThat(browser.text(".call summary")).isEqualTo("Wants to call get_weather");
        assertThat(browser.text(".call pre")).contains("\"city\": \"<i>Oslo\"");
        api.next("It is sunny.");
        browser.clickButton("Allow once");
        page.untilIdle();

        assertThat(page.tools().made()).containsExactly("get_weather{\"city\": \"<i>Oslo\"}");
        assertThat(page.answer()).isEqualTo("It is sunny.");
        api.request();
        JsonNode messages = api.request().at("/messages");
        assertThat(messages.at("/1/tool_calls/0/id").stringValue()).isEqualTo("call_get_weather");
        assertThat(messages.at("/2").toString())
                .isEqualTo("{\"role\":\"tool\",\"tool_call_id\":\"call_get_weather\",\"content\":\"<b>sunny</b>\"}");
        assertThat(browser.script("return document.querySelector('.call').open").asBoolean())
                .isFalse();
        browser.click(".call summary");
        assertThat(browser.text(".call .result")).isEqualTo("<b>sunny</b>");

        browser.reload();
        browser.untilTrue("document.querySelectorAll('#thread article').length === 3");
        assertThat(browser.text(".call summary")).isEqualTo("Called get_weather");
        askForACall(); // once is once
        browser.press(Browser.ESCAPE);
        page.untilIdle();
    }

    @Test
    void alwaysHoldsForThisConversationAlone() throws Exception {
        switchOn("get_weather");
        askForACall();
        api.next(WEATHER);
        api.next("Sunny twice.");
        browser.clickButton("Always in this conversation");
        page.untilIdle();
        assertThat(page.tools().made()).hasSize(2);
        assertThat(page.answer()).isEqualTo("Sunny twice.");

        browser.click("#new");
        switchOn("get_weather");
        askForACall();
        assertThat(page.tools().made()).hasSize(2);
        browser.click("#stop");
        page.untilIdle();
        assertThat(browser.count(".consent")).isZero();
    }

    @Test
    void aRefusedCallIsNotMadeAndTheModelIsTold() throws Exception {
        switchOn("get_weather");
        askForACall();
        api.next("As you like.");
        browser.clickButton("Refuse");
        page.untilIdle();

        assertThat(browser.text(".call summary")).isEqualTo("Refused to call get_weather");
        assertThat(page.tools().made()).isEmpty();
        api.request();
        assertThat(api.request().at("/messages/2/content").stringValue())
                .isEqualTo("error: the user does not want this call");
    }

    @Test
    void whatFailsIsToldToTheModel() throws Exception {
        switchOn("gone");
        api.next(ScriptedApi.CALL + "gone {}");
        browser.type("#prompt", "go" + Browser.ENTER);
        browser.untilTrue("document.querySelector('.consent')");
        api.next("It is gone.");
        browser.clickButton("Allow once");
        page.untilIdle();

        api.request();
        assertThat(api.request().at("/messages/2/content").stringValue())
                .isEqualTo("error: the MCP server of gone has failed: it has ended");
    }
}
