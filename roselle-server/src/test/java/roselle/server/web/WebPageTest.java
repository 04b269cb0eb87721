package roselle.server.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** The page in a browser, in front of an API whose answers the tests write. */
@Tag("long")
@NeedsPrograms({"chromedriver", "chromium"})
final class WebPageTest {
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

    private void ask(String question, String... pieces) {
        page.ask(question, pieces);
    }

    private void untilIdle() {
        page.untilIdle();
    }

    private String answer() {
        return page.answer();
    }

    private int messages() {
        return browser.count("#thread article");
    }

    @Test
    void showsTheAnswerWithItsSpeed() throws Exception {
        api.next("Good ", ScriptedApi.HOLD, "morning", ".");
        browser.type("#prompt", "hello" + Browser.ENTER);
        browser.untilTrue("document.querySelector('.assistant .markdown')?.innerText.includes('Good')");
        api.goOn(); // some time after the first token: all at once would have no speed
        untilIdle();

        assertThat(answer()).isEqualTo("Good morning.");
        String figures = browser.until(
                        "return document.querySelector('.figures').innerText",
                        text -> text.stringValue().contains("tokens/s"))
                .stringValue();
        double rate = browser.await("fetch('dashboard/state').then(r => r.json()).then(s => "
                        + "12000 / (s.recent[0].last_millis - s.recent[0].first_millis))")
                .doubleValue();
        assertThat(figures)
                .as("the server counts letters, of which there are more than pieces")
                .contains("first token", "13 tokens");
        assertThat(Double.parseDouble(figures.replaceAll(".* (.*) tokens/s.*", "$1")))
                .isCloseTo(rate, within(0.5));
        JsonNode request = api.request();
        assertThat(request.at("/model").stringValue()).isEqualTo("scripted");
        assertThat(request.at("/messages").toString()).isEqualTo("[{\"role\":\"user\",\"content\":\"hello\"}]");
        assertThat(browser.text("#announcement")).isEqualTo("Good morning.");
    }

    @Test
    void estimatesTheSpeedWhereTheServersLogIsNotForIt() {
        api.keepNoLog();
        api.next("Good ", ScriptedApi.HOLD, "morning");
        browser.type("#prompt", "hello" + Browser.ENTER);
        browser.untilTrue("document.querySelector('.assistant .markdown')?.innerText.includes('Good')");
        api.goOn();
        untilIdle();

        browser.untilTrue("document.querySelector('.figures').innerText.includes('tokens/s')");
        assertThat(browser.text(".figures")).containsPattern("about [0-9.]+ tokens/s · 7 tokens");
    }

    @Test
    void sendsTheWholeConversationAndTheSettings() throws Exception {
        browser.click("#settings");
        browser.type("[name=system]", "Be brief.");
        browser.type("[name=temperature]", "0.5");
        browser.type("[name=seed]", "7" + Browser.TAB);
        ask("one", "1");
        ask("two", "2");
        api.request();

        JsonNode request = api.request();

        assertThat(request.at("/messages").toString())
                .isEqualTo("[{\"role\":\"system\",\"content\":\"Be brief.\"},{\"role\":\"user\",\"content\":\"one\"},"
                        + "{\"role\":\"assistant\",\"content\":\"1\"},{\"role\":\"user\",\"content\":\"two\"}]");
        assertThat(request.at("/temperature").doubleValue()).isEqualTo(0.5);
        assertThat(request.at("/seed").intValue()).isEqualTo(7);
        assertThat(request.has("top_p")).as("an empty field is not sent").isFalse();
    }

    @Test
    void stopCancelsTheAnswerOnTheServerAndKeepsWhatWasWritten() throws Exception {
        api.next("This much", ScriptedApi.STAY);
        browser.type("#prompt", "go on" + Browser.ENTER);
        browser.until(
                "return document.querySelector('.assistant')?.innerText ?? ''",
                text -> text.stringValue().contains("This much"));

        browser.click("#stop");
        untilIdle();

        assertThat(api.wasLeft()).isTrue();
        assertThat(answer()).isEqualTo("This much");
        assertThat(browser.text(".figures")).contains("stopped");
    }

    @Test
    void reloadKeepsTheConversation() {
        ask("remember me", "I do.");

        browser.reload();
        browser.untilTrue("document.querySelector('.assistant')");

        assertThat(browser.text(".user .text")).isEqualTo("remember me");
        assertThat(answer()).isEqualTo("I do.");
    }

    @Test
    void regenerateWritesAnotherAnswerAndKeepsTheFirst() throws Exception {
        ask("roll a die", "4");
        api.next("6");

        browser.clickButton("Regenerate");
        browser.until(
                "return document.querySelector('.assistant')?.innerText ?? ''",
                text -> text.stringValue().startsWith("6"));
        untilIdle();

        assertThat(messages()).isEqualTo(2);
        api.request();
        assertThat(api.request().at("/messages")).hasSize(1);
        browser.click("[aria-label='Branch before']");
        assertThat(answer()).isEqualTo("4");
    }

    @Test
    void anEditedMessageBeginsABranchThatCanBeLeftAgain() throws Exception {
        ask("first", "1");
        ask("secnd", "2");
        ask("third", "3");
        browser.script("document.querySelector('#prompt').value = 'a draft'");

        browser.script("document.querySelectorAll('.user')[1].querySelector('button').click()");

        assertThat(messages()).as("nothing goes before the new words are sent").isEqualTo(6);
        assertThat(prompt()).isEqualTo("secnd");
        browser.script("document.querySelector('#prompt').value = ''");
        ask("second", "4");
        assertThat(messages()).isEqualTo(4);
        assertThat(answer()).isEqualTo("4");
        assertThat(prompt()).isEqualTo("a draft");
        for (int asked = 0; asked < 3; asked++) {
            api.request();
        }
        assertThat(api.request().at("/messages").toString())
                .contains("first", "second")
                .doesNotContain("secnd", "fork");

        browser.reload();
        browser.untilTrue("document.querySelectorAll('#thread article').length === 4");
        browser.click("[aria-label='Branch before']");
        assertThat(messages()).isEqualTo(6);
        assertThat(answer()).isEqualTo("3");
        browser.click("[aria-label='Branch after']");
        assertThat(answer()).isEqualTo("4");
    }

    @Test
    void cancelLeavesTheMessageAndGivesTheDraftBack() {
        ask("first", "1");
        browser.script("document.querySelector('#prompt').value = 'a draft'");

        browser.clickButton("Edit");
        browser.clickButton("Cancel");

        assertThat(prompt()).isEqualTo("a draft");
        assertThat(messages()).isEqualTo(2);
        ask("", "2");
        assertThat(messages()).as("what is sent now is a message of its own").isEqualTo(4);
    }

    private static String prompt() {
        return browser.script("return document.querySelector('#prompt').value").stringValue();
    }

    @Test
    void searchesTitlesAndWordsOfAllBranches() {
        ask("about tea", "Green.");
        ask("secnd", "x");
        browser.script("[...document.querySelectorAll('.user')].at(-1).querySelector('button').click()");
        browser.script("document.querySelector('#prompt').value = ''");
        ask("another", "y");
        browser.click("#new");
        ask("about ink", "Blue.");

        browser.type("#search", "secnd");
        assertThat(browser.script("return document.querySelector('#conversations').innerText")
                        .stringValue())
                .contains("about tea")
                .doesNotContain("about ink");
        browser.type("#search", "x");
        assertThat(browser.count("#conversations li")).isZero();
    }

    @Test
    void eachConversationHasSettingsOfItsOwn() throws Exception {
        browser.click("#settings");
        browser.type("[name=temperature]", "0.5" + Browser.TAB);
        ask("one", "1");
        browser.type("[name=seed]", "7" + Browser.TAB);
        browser.click("#new");
        assertThat(setting("temperature")).as("set before the first message").isEqualTo("0.5");
        assertThat(setting("seed")).as("set later").isEmpty();
        ask("two", "2");
        browser.clickButton("one");
        assertThat(setting("seed")).isEqualTo("7");
        ask("three", "3");

        api.request();
        assertThat(api.request().has("seed")).isFalse();
        JsonNode request = api.request();
        assertThat(request.at("/seed").intValue()).isEqualTo(7);
        assertThat(request.at("/temperature").doubleValue()).isEqualTo(0.5);
    }

    private static String setting(String name) {
        return browser.script("return document.querySelector('[name=' + arguments[0] + ']').value", name)
                .stringValue();
    }

    @Test
    void whatIsExportedCanBeImportedWithItsBranches() {
        ask("roll a die", "4");
        api.next("6");
        browser.clickButton("Regenerate");
        browser.untilTrue("document.querySelector('.branch')?.innerText === '2 of 2'");
        untilIdle();
        browser.script(
                "HTMLAnchorElement.prototype.click = function () { window.saved = this.download + ' ' + this.href; }");
        browser.click("#export");
        assertThat(browser.script("return window.saved").stringValue()).matches("roselle-[-0-9]+\\.json blob:.*");
        String file = browser.await("import('./web/sharing.js').then(m => m.exported())")
                .stringValue();

        take(file);
        assertThat(browser.text("#imported")).isEqualTo("0 of 1 conversations were added.");
        browser.click("[aria-label='Delete roll a die']");
        take(file);
        assertThat(browser.text("#imported")).isEqualTo("1 of 1 conversations were added.");
        browser.clickButton("roll a die");
        assertThat(answer()).isEqualTo("6");
        browser.click("[aria-label='Branch before']");
        assertThat(answer()).isEqualTo("4");

        for (String broken :
                List.of("{", "[]", file.replace("\"4\"", "4"), file.replace("\"shown\": 1", "\"shown\": 0"))) {
            take(broken);
            assertThat(browser.text("#imported")).as(broken).contains("nothing was added");
        }
        assertThat(browser.count("#conversations li")).isEqualTo(1);
    }

    /** Gives the page a file, and waits until it has said what came of it. */
    private static void take(String text) {
        browser.script(
                "document.querySelector('#imported').textContent = '';"
                        + "const files = new DataTransfer(); files.items.add(new File([arguments[0]], 'conversations.json'));"
                        + "const input = document.querySelector('#file'); input.files = files.files;"
                        + "input.dispatchEvent(new Event('change'));",
                text);
        browser.untilTrue("document.querySelector('#imported').textContent !== ''");
    }

    @Test
    void foldsThoughtsAndTellsThemToNobody() throws Exception {
        ask("think", ScriptedApi.THOUGHT + "hmm", "Yes.");

        assertThat(answer()).isEqualTo("Yes.");
        assertThat(browser.script("return document.querySelector('.thoughts').open")
                        .asBoolean())
                .isFalse();
        browser.click(".thoughts summary");
        assertThat(browser.text(".thoughts .markdown")).isEqualTo("hmm");
        ask("again", "No.");
        api.request();
        assertThat(api.request().at("/messages").toString()).contains("Yes.").doesNotContain("hmm");
    }

    @Test
    void whatFailedIsNotSentAgain() throws Exception {
        ask("refused", ScriptedApi.REFUSE);
        assertThat(browser.script("return document.querySelector('.assistant').innerText")
                        .stringValue())
                .as("there is nothing to copy")
                .doesNotContain("Copy");
        ask("broken", ScriptedApi.THOUGHT + "hmm", ScriptedApi.BREAK);
        ask("fine", "Yes.");

        api.request();
        api.request();
        assertThat(api.request().at("/messages").toString())
                .isEqualTo("[{\"role\":\"user\",\"content\":\"broken\\n\\nfine\"}]");
    }

    @Test
    void asksForTheKeyThatTheServerWants() {
        api.needKey();
        browser.reload();

        browser.untilTrue("!document.querySelector('#panel').hidden");

        assertThat(browser.script("return document.activeElement.name").stringValue())
                .isEqualTo("key");
    }

    @Test
    void keepsSeveralConversationsAndDeletesThem() {
        ask("about tea", "Green.");
        browser.click("#new");
        ask("about ink", "Blue.");
        assertThat(browser.count("#conversations li")).isEqualTo(2);

        browser.clickButton("about tea");
        assertThat(answer()).isEqualTo("Green.");

        browser.click("[aria-label='Delete about tea']");
        assertThat(browser.count("#conversations li")).isEqualTo(1);
        assertThat(browser.count(".empty")).isEqualTo(1);
    }

    @Test
    void everythingCanBeDoneFromTheKeyboard() throws Exception {
        api.next("never", ScriptedApi.STAY);
        browser.press("a");
        browser.press(Browser.SHIFT, Browser.ENTER);
        browser.press("b");
        browser.press(Browser.ENTER);
        assertThat(api.request().at("/messages/0/content").stringValue()).isEqualTo("a\nb");
        browser.untilTrue("document.querySelector('.assistant')?.innerText.includes('never')");

        browser.press(Browser.ESCAPE);
        untilIdle();
        browser.press(Browser.ALT, Browser.UP);
        assertThat(browser.script("return document.querySelector('#prompt').value")
                        .stringValue())
                .isEqualTo("a\nb");
        browser.press(Browser.ALT, "n");

        assertThat(browser.count(".empty")).isEqualTo(1);
        assertThat(browser.script("return document.activeElement.id").stringValue())
                .isEqualTo("prompt");
    }

    @Test
    void whatAModelWritesStaysText() {
        ask(
                "<b>attack</b>",
                "<script>window.hacked = 1</script>\n\n",
                "<img src=x onerror='window.hacked = 2'>\n\n",
                "[click](javascript:window.hacked=3) [data](data:text/html,<script>hacked=4</script>)\n\n",
                "[case](JaVaScRiPt:alert(1)) [tab](java\tscript:alert(1)) ![pic](http://127.0.0.1:1/x.png)\n\n",
                "```html\n<script>window.hacked = 5</script>\n```\n\n",
                "<a href='javascript:alert(1)'>x</a> `<svg onload=alert(1)>` | <iframe src=//e> |\n|-|\n| <b>x</b> |");

        assertThat(browser.count("#thread script, #thread img, #thread iframe, #thread svg, #thread b"))
                .isZero();
        assertThat(browser.script(
                        "return [...document.querySelectorAll('#thread a')].map(a => new URL(a.href).protocol)"))
                .allSatisfy(protocol -> assertThat(protocol.stringValue()).isIn("http:", "https:", "mailto:"));
        assertThat(browser.script("return typeof window.hacked").stringValue()).isEqualTo("undefined");
        assertThat(answer()).contains("<script>window.hacked = 1</script>", "[click](javascript:window.hacked=3)");
        assertThat(browser.text(".user .text")).isEqualTo("<b>attack</b>");
    }

    @Test
    void errorsAreSentences() {
        ask("with a bad seed", ScriptedApi.REFUSE);
        assertThat(browser.text("[role=alert]")).isEqualTo("seed is 7: the test wants another");

        ask("half", "Half an", ScriptedApi.BREAK);
        assertThat(answer()).isEqualTo("Half an");
        assertThat(browser.script("return [...document.querySelectorAll('[role=alert]')].at(-1).innerText")
                        .stringValue())
                .isEqualTo("the device has failed");
    }

    @Test
    void aDarkPageStaysDark() {
        String before = background();
        browser.click("#theme");
        String after = background();
        browser.reload();
        browser.untilTrue("document.querySelector('#model').value === 'scripted'");

        assertThat(after).isNotEqualTo(before);
        assertThat(background()).isEqualTo(after);
    }

    private static String background() {
        return browser.script("return getComputedStyle(document.body).backgroundColor")
                .stringValue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"#chat", "#dashboard"})
    void fitsAPhone(String view) {
        ask("wide", "`" + "x".repeat(300) + "` " + "y".repeat(300) + "\n\n```\n" + "z".repeat(300) + "\n```");
        browser.resize(360, 640);
        browser.script("location.hash = arguments[0]", view);
        browser.untilTrue("!document.querySelector('" + view + "').hidden");

        int width =
                browser.script("return document.scrollingElement.scrollWidth").intValue();
        int bar = browser.script("return Math.ceil(document.querySelector('.bar').scrollWidth)")
                .intValue();

        assertThat(width).isLessThanOrEqualTo(360);
        assertThat(bar).isLessThanOrEqualTo(360);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', ignoreLeadingAndTrailingWhitespace = true, quoteCharacter = '"', textBlock = """
            a **b** *c* ~~d~~            | <p>a <strong>b</strong> <em>c</em> <del>d</del></p>
            ***x*** y                    | <p><strong><em>x</em></strong> y</p>
            snake_case_name 2*3*4        | <p>snake_case_name 2<em>3</em>4</p>
            a * b * c                    | <p>a * b * c</p>
            **open and `**` code         | <p>**open and <code>**</code> code</p>
            ``a ` b``                    | <p><code>a ` b</code></p>
            \\*not\\*                    | <p>*not*</p>
            # T                          | <h1>T</h1>
            #T                           | <p>#T</p>
            - a¶- b¶  - c                | <ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>
            3. a¶4. b                    | "<ol start=""3""><li>a</li><li>b</li></ol>"
            - a¶¶- b                     | <ul><li>a</li><li>b</li></ul>
            - a¶¶para                    | <ul><li>a</li></ul><p>para</p>
            > q¶> r                      | <blockquote><p>q<br>r</p></blockquote>
            ---                          | <hr>
            a¶b                          | <p>a<br>b</p>
            see https://x.org/a.         | "<p>see <a href=""https://x.org/a"" target=""_blank"" rel=""noopener noreferrer nofollow"">https://x.org/a</a>.</p>"
            [t](https://x.org)           | "<p><a href=""https://x.org"" target=""_blank"" rel=""noopener noreferrer nofollow"">t</a></p>"
            [t](file:///etc)             | <p>[t](file:///etc)</p>
            a \\(x_1 * y_2\\) b           | "<p>a <code class=""math"">x_1 * y_2</code> b</p>"
            a \\(b                        | <p>a (b</p>
            \\[¶x_1¶\\]¶b                 | "<pre class=""math"" tabindex=""0"">x_1</pre><p>b</p>"
            $$x * y * z$$                | "<pre class=""math"" tabindex=""0"">x * y * z</pre>"
            $$5 or $$6                   | <p>$$5 or $$6</p>
            is $x_1$, so $$a=b$$.        | "<p>is <code class=""math"">x_1</code>, so <code class=""math"">a=b</code>.</p>"
            $5 and $6, US$5-$10          | <p>$5 and $6, US$5-$10</p>
            $5 for me = $6 for you       | <p>$5 for me = $6 for you</p>
            ¦a¦b¦c¦¶¦:-¦:-:¦-:¦¶¦1¦2¦3¦  | "<table><thead><tr><th>a</th><th class=""center"">b</th><th class=""right"">c</th></tr></thead><tbody><tr><td>1</td><td class=""center"">2</td><td class=""right"">3</td></tr></tbody></table>"
            """)
    void rendersMarkdown(String markdown, String html) {
        JsonNode rendered = browser.await(
                "import('./web/markdown.js').then(m => { const d = document.createElement('div'); "
                        + "d.append(m.markdown(arguments[0])); return d.innerHTML; })",
                markdown.replace('¶', '\n').replace('¦', '|'));

        assertThat(rendered.stringValue()).isEqualTo(html);
    }

    @Test
    void rendersCodeAndTables() {
        ask("show", "```java\nint a = 1;\n  <b>\n```\n\n| x | y |\n|---|---|\n| 1 | `2` |\n");

        assertThat(browser.script("return document.querySelector('.block code').textContent")
                        .stringValue())
                .isEqualTo("int a = 1;\n  <b>");
        assertThat(browser.text(".block header")).startsWith("java");
        assertThat(browser.count(".markdown td")).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "[", "*a ", "_", "`", "~~x", "](", "![](", "> ", "- ", "|-", "<", "\\", "\\(", "\\[\n\n", "$$\n",
                "http://", "**a*_", "$a=", "$$a=b$$"
            })
    void renderingTakesWorkInProportionToTheText(String piece) {
        long half;
        long whole;
        try (var work = new RenderingWork(browser)) {
            half = work.steps(piece, 25_000 / piece.length());
            whole = work.steps(piece, 50_000 / piece.length());
        }

        assertThat(whole)
                .as("steps of 50,000 characters of %s, each of which may have 2,048 others looked at", piece)
                .isBetween(50_000L, 50_000L * 3000);
        assertThat((double) whole / half)
                .as("%d steps of twice the text that takes %d", whole, half)
                .isLessThan(2.5);
    }

    @Test
    void theDashboardTellsWhatTheServerDoes() {
        browser.script("location.hash = '#dashboard'");

        browser.untilTrue("document.querySelectorAll('.tile').length >= 10");

        assertThat(browser.text("#dashboard"))
                .contains("Ready", "scripted", "Running", "Output tokens/s", "Time to first token", "KV pages in use")
                .contains("Prefix hits", "Latest requests")
                .contains("Models: ", "loaded");
    }

    @Test
    void asksNoOtherServerAndRunsNoInlineScript() {
        JsonNode loaded = browser.script("return performance.getEntriesByType('resource').map(e => e.name)");

        assertThat(loaded)
                .isNotEmpty()
                .allSatisfy(name ->
                        assertThat(name.stringValue()).startsWith(page.uri().toString()));
    }
}
