package roselle.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.StringReader;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.junit.jupiter.api.Test;
import org.xml.sax.InputSource;
import org.xml.sax.SAXException;
import roselle.bench.chart.Picture;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

final class ChartsTest {
    private static final String RUN = """
            {"backend": "a<b", "scale": %s, "repeat": 0, "output_tokens_per_second": 120.5, "failed": 0,
             "ttft_ms": {"count": 3, "p50": 10, "p90": 20, "p99": 30, "curve": [5, 10, 30]},
             "tpot_ms": {"count": 3, "p50": 1, "p90": 2, "p99": 3, "curve": [1, 1.5, 3]},
             "itl_ms": {"count": 0},
             "e2e_ms": {"count": 3, "p50": 100, "p90": 200, "p99": 30000, "curve": [50, 100, 30000]},
             "timeline": [[0, 0.01, 0.1, 5], [0.5, 0.52, 0.9, 7]]}
            """;

    @Test
    void drawsEveryPictureAsSvgAndPng() throws Exception {
        Map<String, Picture> pictures = Charts.of(Map.of("one", document()));

        assertThat(pictures.keySet())
                .contains("latency", "throughput", "pareto", "distribution_scale_0.4", "timeline_a_b_scale_0.4");
        for (Picture picture : pictures.values()) {
            assertThat(texts(picture)).isNotEmpty();
            assertThat(ImageIO.read(new ByteArrayInputStream(picture.png())).getWidth())
                    .isEqualTo(1840);
        }
        assertThat(texts(pictures.get("latency"))).contains("a<b", "TTFT: time to first token", "0.4", "1.6");
    }

    @Test
    void namesEachFileOfSeveral() throws Exception {
        var documents = new LinkedHashMap<String, JsonNode>();
        documents.put("monday", document());
        documents.put("tuesday", document());

        assertThat(texts(Charts.of(documents).get("throughput"))).contains("monday: a<b", "tuesday: a<b");
    }

    @Test
    void writesAPageThatNeedsNothingElse() {
        Map<String, JsonNode> documents = Map.of("one", document());
        String page = HtmlReport.of(documents, Charts.of(documents));

        assertThat(page).contains("<svg").contains("a&lt;b").contains("<th>scale</th>");
        assertThat(page).doesNotContain("a<b").doesNotContain("<script").doesNotContain("src=");
        assertThat(page.split("<table>", -1)).hasSize(3);
        assertThat(page.split("</table>", -1)).hasSize(3);
    }

    /** Each file's throughput is divided by the cards of its own engine, and the axis says what that is. */
    @Test
    void namesWhatThroughputIsDividedBy() throws Exception {
        assertThat(texts(Charts.of(Map.of("one", document(2))).get("pareto"))).contains("output tokens/s per GPU");
        assertThat(texts(Charts.of(Map.of("one", document(0))).get("pareto")))
                .contains("output tokens/s of the machine");
        var documents = new LinkedHashMap<String, JsonNode>();
        documents.put("with", document(1));
        documents.put("without", document(0));
        assertThat(texts(Charts.of(documents).get("pareto"))).contains("per GPU, or of a machine without");
        assertThat(texts(Charts.of(Map.of("one", document(2))).get("pareto")))
                .as("120.5 tokens/s of two cards")
                .contains("60")
                .doesNotContain("100");
    }

    private static JsonNode document(int gpus) {
        return new JsonMapper()
                .readTree(
                        "{\"schema\": \"roselle.bench.online/1\", \"workload\": {}, \"meta\": {\"machine\": {\"gpus\":"
                                + " [\"H200\", \"H200\", \"H200\", \"H200\"]}}, \"backends\": [{\"name\": \"a<b\", \"gpus\": "
                                + gpus
                                + "}], \"runs\": [" + RUN.formatted("0.4") + "]}");
    }

    private static JsonNode document() {
        return new JsonMapper()
                .readTree("{\"schema\": \"roselle.bench.online/1\", \"workload\": {}, \"runs\": ["
                        + RUN.formatted("0.4") + "," + RUN.formatted("1.6") + "]}");
    }

    private static String texts(@org.jspecify.annotations.Nullable Picture picture)
            throws ParserConfigurationException, IOException, SAXException {
        assertThat(picture).isNotNull();
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new InputSource(new StringReader(
                        java.util.Objects.requireNonNull(picture).svg())))
                .getDocumentElement()
                .getTextContent();
    }
}
