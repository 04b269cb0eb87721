package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.embedding.EmbeddingOptions;
import roselle.embedding.SparseVector;
import roselle.tensor.Dequantizer;
import tools.jackson.databind.JsonNode;

/** Encoders over HTTP: vectors, scores and ranks in the forms of each API. */
final class EncodersTest {
    private static final String HI = "\"Hi.\"";
    private static final String SEVERAL =
            "[\"what is a panda?\",\"the story of a ship\",\"a panda eats\",\"hi\",\"the sea\"]";

    private static EncoderServer server;

    @TempDir
    private Path folder = Path.of("");

    @BeforeAll
    static void start() {
        server = new EncoderServer("bert", "bert-cross", "bert-labels", "bert-tokens");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static float[] expected(String model, String name) {
        try (Checkpoint reference =
                Checkpoints.open(EncoderServer.MODELS.resolve(model).resolve("expected.safetensors"))) {
            return Dequantizer.all(reference.tensor(name));
        }
    }

    /** The texts that the reference has, of one or two each. */
    private static List<List<String>> texts(String model) throws IOException {
        return DemoServer.json(
                        Files.readString(EncoderServer.MODELS.resolve(model).resolve("texts.json")))
                .valueStream()
                .map(each -> each.get("texts")
                        .valueStream()
                        .map(JsonNode::stringValue)
                        .toList())
                .toList();
    }

    private static String json(Object value) {
        return DemoServer.MAPPER.writeValueAsString(value);
    }

    private static float[] floats(JsonNode numbers) {
        var floats = new float[numbers.size()];
        for (int at = 0; at < floats.length; at++) {
            floats[at] = numbers.get(at).floatValue();
        }
        return floats;
    }

    private static double sigmoid(double logit) {
        return 1 / (1 + Math.exp(-logit));
    }

    @Test
    void vectorsAreTheReferences() throws IOException {
        List<String> texts = texts("bert").stream().map(List::getFirst).toList();

        JsonNode answer = server.ask("/v1/embeddings", "{\"model\":\"bert\",\"input\":" + json(texts) + "}");

        assertThat(answer.at("/data")).hasSize(texts.size());
        for (int text = 0; text < texts.size(); text++) {
            assertThat(floats(answer.at("/data/" + text + "/embedding")))
                    .containsExactly(expected("bert", "embedding_" + text), within(1e-4f));
        }
        assertThat(answer.at("/usage/prompt_tokens").intValue())
                .isEqualTo(server.engine("bert")
                        .embed(texts, EmbeddingOptions.DEFAULT)
                        .tokens());
    }

    @Test
    void tokenIdsAndPackedVectorsAreTheSame() {
        float[] vector = floats(server.ask("/v1/embeddings", "{\"model\":\"bert\",\"input\":" + HI + "}")
                .at("/data/0/embedding"));

        JsonNode ids = server.ask("/v1/embeddings", "{\"model\":\"bert\",\"input\":[[2,116,8,3]]}");
        JsonNode packed = server.ask(
                "/v1/embeddings", "{\"model\":\"bert\",\"input\":" + HI + ",\"encoding_format\":\"base64\"}");

        assertThat(floats(ids.at("/data/0/embedding"))).isEqualTo(vector);
        assertThat(ids.at("/usage/total_tokens").intValue()).isEqualTo(4);
        var unpacked = new float[vector.length];
        ByteBuffer.wrap(Base64.getDecoder()
                        .decode(packed.at("/data/0/embedding").stringValue()))
                .order(ByteOrder.LITTLE_ENDIAN)
                .asFloatBuffer()
                .get(unpacked);
        assertThat(unpacked).isEqualTo(vector);
    }

    @Test
    void vectorsAreCutWhereTheModelWasTrainedForIt() throws IOException {
        Path cut = Files.createDirectories(folder.resolve("cut"));
        Path bert = EncoderServer.MODELS.resolve("bert");
        try (Stream<Path> files = Files.walk(bert)) {
            for (Path file : (Iterable<Path>) files.filter(path -> !path.equals(bert))::iterator) {
                Files.copy(file, cut.resolve(bert.relativize(file).toString()));
            }
        }
        String config = Files.readString(cut.resolve("config.json"));
        Files.writeString(cut.resolve("config.json"), config.replaceFirst("\\{", "{\"matryoshka_dimensions\":[8],"));
        try (var matryoshka = new EncoderServer(cut)) {
            float[] vector = floats(matryoshka
                    .ask("/v1/embeddings", "{\"input\":" + HI + ",\"dimensions\":8}")
                    .at("/data/0/embedding"));
            float[] whole = matryoshka.engine("cut").embed(List.of("Hi.")).getFirst();
            double length = Math.sqrt(IntStream.range(0, 8)
                    .mapToDouble(at -> whole[at] * whole[at])
                    .sum());
            assertThat(vector).hasSize(8);
            for (int at = 0; at < 8; at++) {
                assertThat(vector[at]).isCloseTo((float) (whole[at] / length), within(1e-6f));
            }
            assertThat(matryoshka
                            .post("/embed", "{\"inputs\":\"a\",\"dimensions\":9}")
                            .body())
                    .contains("dimensions is 9", "can be cut to 8");
        }
    }

    @Test
    void sparseVectorsAreTokensWithWeights() {
        try (var sparse = new EncoderServer("bge-m3", "splade")) {
            for (String model : List.of("bge-m3", "splade")) {
                JsonNode answer = sparse.ask(
                        "/embed_sparse", "{\"model\":\"" + model + "\",\"inputs\":[\"a ship\",\"a story\"]}");
                List<SparseVector> expected =
                        sparse.engine(model).embedSparse(List.of("a ship", "a story"), EmbeddingOptions.DEFAULT);
                assertThat(answer).hasSize(2);
                for (int text = 0; text < 2; text++) {
                    JsonNode pairs = answer.get(text);
                    assertThat(pairs.valueStream()
                                    .mapToInt(pair -> pair.get("index").asInt()))
                            .containsExactly(boxed(expected.get(text).indices()))
                            .isNotEmpty();
                    assertThat(pairs.get(0).get("value").floatValue())
                            .isEqualTo(expected.get(text).values()[0])
                            .isPositive();
                }
            }
            assertThat(sparse.post("/embed_sparse", "{\"inputs\":\"a\"}").body())
                    .contains("model is missing");
            assertThat(sparse.ask("/embed", "{\"inputs\":\"a ship\"}")).hasSize(1); // by the one that gives such
            assertThat(sparse.post("/embed", "{\"model\":\"splade\",\"inputs\":\"a\"}")
                            .body())
                    .contains("splade gives sparse vectors alone: ask /embed_sparse");
        }
    }

    private static Integer[] boxed(int[] numbers) {
        return Arrays.stream(numbers).boxed().toArray(Integer[]::new);
    }

    @Test
    void aTaskGivesVectorsOfItsOwn() {
        try (var tasks = new EncoderServer("jina-v3-tasks")) {
            float[] query = of(tasks, "{\"input\":\"a story\",\"task\":\"retrieval.query\"}");
            float[] none = of(tasks, "{\"input\":\"tell: a story\"}");
            assertThat(query).isNotEqualTo(none);
            List<float[]> both = tasks.engine("jina-v3-tasks")
                    .embed(List.of("a story", "a ship"), EmbeddingOptions.DEFAULT.withTask("retrieval.query"))
                    .vectors();
            assertThat(both.getFirst()).isEqualTo(query);
            assertThat(tasks.post("/v1/embeddings", "{\"input\":\"a\",\"task\":\"cooking\"}")
                            .body())
                    .contains("the task is cooking: the model's are retrieval.query, retrieval.passage");
        }
    }

    private static float[] of(EncoderServer server, String body) {
        return floats(server.ask("/v1/embeddings", body).at("/data/0/embedding"));
    }

    @Test
    void textsAreRankedAsCrossEncodersScoreThem() {
        List<float[]> logits = server.engine("bert-cross")
                .score(
                        "panda",
                        List.of("what is a panda?", "the story of a ship", "a panda eats", "hi", "the sea"),
                        EmbeddingOptions.DEFAULT)
                .vectors();
        List<Integer> order = IntStream.range(0, logits.size())
                .boxed()
                .sorted((one, other) -> Float.compare(logits.get(other)[0], logits.get(one)[0]))
                .toList();

        String begin = "{\"model\":\"bert-cross\",\"query\":\"panda\",";
        JsonNode documents = server.ask("/v1/rerank", begin + "\"documents\":" + SEVERAL + ",\"top_n\":3}");
        JsonNode second = server.ask("/v2/rerank", begin + "\"documents\":[{\"text\":\"hi\"}]}");
        JsonNode ranks = server.ask("/rerank", begin + "\"texts\":" + SEVERAL + ",\"raw_scores\":true}");

        assertThat(documents.at("/results")).hasSize(3);
        assertThat(ranks).hasSize(5);
        for (int rank = 0; rank < 5; rank++) {
            int place = order.get(rank);
            assertThat(ranks.at("/" + rank + "/index").intValue()).isEqualTo(place);
            assertThat(ranks.at("/" + rank + "/score").doubleValue()).isCloseTo(logits.get(place)[0], within(1e-5));
        }
        assertThat(documents.at("/results/0/index").intValue()).isEqualTo(order.getFirst());
        assertThat(documents.at("/results/0/relevance_score").doubleValue())
                .isCloseTo(sigmoid(logits.get(order.getFirst())[0]), within(1e-6));
        assertThat(documents.at("/results/0/document/text").stringValue()).isNotBlank();
        assertThat(second.at("/results/0").has("document")).isFalse();
    }

    @Test
    void pairsHaveTheReferencesScores() throws IOException {
        List<List<String>> pairs =
                texts("bert-cross").stream().filter(each -> each.size() == 2).toList();
        List<String> firsts = pairs.stream().map(List::getFirst).toList();
        List<String> seconds = pairs.stream().map(List::getLast).toList();

        JsonNode answer = server.ask(
                "/score",
                "{\"model\":\"bert-cross\",\"text_1\":" + json(firsts) + ",\"text_2\":" + json(seconds) + "}");

        assertThat(answer.at("/data")).hasSameSizeAs(pairs).isNotEmpty();
        for (int pair = 0; pair < pairs.size(); pair++) {
            int reference = texts("bert-cross").indexOf(pairs.get(pair));
            assertThat(answer.at("/data/" + pair + "/score").doubleValue())
                    .isCloseTo(sigmoid(expected("bert-cross", "logits_" + reference)[0]), within(1e-4));
        }
    }

    @Test
    void poolingGivesWhateverAModelHas() throws IOException {
        JsonNode vector = server.ask("/pooling", "{\"model\":\"bert\",\"input\":" + HI + "}");
        assertThat(floats(vector.at("/data/0/data"))).isEqualTo(expectedNear("bert", HI));
        JsonNode labels = server.ask("/pooling", "{\"model\":\"bert-labels\",\"input\":" + HI + "}");
        JsonNode classes = server.ask("/classify", "{\"model\":\"bert-labels\",\"input\":" + HI + "}");
        assertThat(labels.at("/data/0/data").size()).isEqualTo(3);
        assertThat(labels.at("/data/0/data/2").doubleValue())
                .isCloseTo(classes.at("/data/0/probs/2").doubleValue(), within(1e-6));
        assertThat(server.post("/pooling", "{\"model\":\"bert\",\"task\":\"classify\",\"input\":" + HI + "}")
                        .body())
                .contains("its task is embed");
    }

    private static float[] expectedNear(String model, String text) {
        return server.engine(model)
                .embed(List.of(DemoServer.json(text).stringValue()))
                .getFirst();
    }

    @Test
    void eachTokenHasScoresOfAClassifierOfTokens() {
        String body = "{\"model\":\"bert-tokens\",\"use_activation\":false,\"input\":" + HI + "}";
        JsonNode rows = server.ask("/pooling", body).at("/data/0/data");
        float[] logits = server.engine("bert-tokens").embed(List.of("Hi.")).getFirst();
        assertThat(rows.size() * 3).isEqualTo(logits.length);
        assertThat(floats(rows.get(1))).isEqualTo(Arrays.copyOfRange(logits, 3, 6));
        assertThat(server.post("/classify", "{\"model\":\"bert-tokens\",\"input\":" + HI + "}")
                        .body())
                .contains("scores each token and no text as a whole: ask /pooling");
    }

    @Test
    void textsHaveTheLabelsOfAClassifier() {
        float[] logits = server.engine("bert-labels")
                .embed(List.of("Hi."), EmbeddingOptions.DEFAULT)
                .vectors()
                .getFirst();
        double sum = 0;
        for (float logit : logits) {
            sum += Math.exp(logit);
        }

        JsonNode classes = server.ask("/classify", "{\"model\":\"bert-labels\",\"input\":" + HI + "}");
        JsonNode predicted = server.ask("/predict", "{\"model\":\"bert-labels\",\"inputs\":" + HI + "}");
        JsonNode batch = server.ask(
                "/predict", "{\"model\":\"bert-labels\",\"inputs\":[[\"Hi.\"],[\"a\",\"b\"]],\"raw_scores\":true}");

        assertThat(classes.at("/data/0/num_classes").intValue()).isEqualTo(3);
        List<String> labels = List.of("no", "perhaps", "yes");
        int best = 0;
        for (int label = 0; label < 3; label++) {
            assertThat(classes.at("/data/0/probs/" + label).doubleValue())
                    .isCloseTo(Math.exp(logits[label]) / sum, within(1e-6));
            best = logits[label] > logits[best] ? label : best;
        }
        assertThat(classes.at("/data/0/label").stringValue()).isEqualTo(labels.get(best));
        assertThat(predicted).hasSize(3);
        assertThat(predicted.at("/0/label").stringValue()).isEqualTo(labels.get(best));
        assertThat(predicted.at("/0/score").doubleValue())
                .isGreaterThan(predicted.at("/1/score").doubleValue());
        assertThat(batch).hasSize(2);
        assertThat(batch.at("/0/0/score").doubleValue()).isCloseTo(logits[best], within(1e-6));
    }

    @Test
    void otherApisGiveTheSameVector() {
        float[] vector = server.engine("bert").embed(List.of("Hi.")).getFirst();

        List<float[]> answers = new ArrayList<>();
        answers.add(floats(server.ask("/embed", "{\"model\":\"bert\",\"inputs\":" + HI + "}")
                .at("/0")));
        answers.add(floats(server.ask("/embed", "{\"model\":\"bert\",\"inputs\":[" + HI + "],\"normalize\":false}")
                .at("/0")));
        answers.add(floats(server.ask("/api/embed", "{\"model\":\"bert:latest\",\"input\":" + HI + "}")
                .at("/embeddings/0")));
        answers.add(floats(server.ask("/api/embeddings", "{\"model\":\"bert\",\"prompt\":" + HI + "}")
                .at("/embedding")));
        answers.add(floats(server.ask(
                        "/v2/embed", "{\"model\":\"bert\",\"texts\":[" + HI + "],\"input_type\":\"search_document\"}")
                .at("/embeddings/float/0")));

        answers.forEach(each -> assertThat(each).containsExactly(vector, within(1e-6f)));
    }

    @Test
    void whatTextsAreForChoosesThePrompt() {
        float[] prompted = server.engine("bert").embed(List.of("tell: Hi.")).getFirst();

        JsonNode query = server.ask(
                "/v2/embed",
                "{\"model\":\"bert\",\"texts\":[" + HI
                        + "],\"input_type\":\"search_query\",\"embedding_types\":[\"float\",\"base64\"]}");
        JsonNode named = server.ask(
                "/embed", "{\"model\":\"bert\",\"inputs\":" + HI + ",\"prompt_name\":\"query\",\"normalize\":false}");

        assertThat(floats(query.at("/embeddings/float/0"))).isEqualTo(prompted);
        assertThat(floats(named.at("/0"))).isEqualTo(prompted);
        assertThat(query.at("/embeddings/base64/0").stringValue()).isNotBlank();
    }

    @Test
    void textsAreCutOnlyWhenAsked() {
        String tooLong = json("the story ".repeat(200));
        String begin = "{\"model\":\"bert\",\"inputs\":" + tooLong;

        assertThat(server.post("/embed", begin + "}").body()).contains("the model takes 190");
        assertThat(server.ask("/embed", begin + ",\"truncate\":true}")).hasSize(1);
        assertThat(server.ask("/api/embed", "{\"model\":\"bert\",\"truncate\":true,\"input\":" + tooLong + "}")
                        .at("/prompt_eval_count")
                        .intValue())
                .isEqualTo(190);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\0', textBlock = """
            /v1/embeddings | {"input":"a"}                                                        | 400 | model is missing
            /v1/embeddings | {"model":"x","input":"a"}                                            | 404 | there is no model x
            /v1/embeddings | {"model":"bert-cross","input":"a"}                                   | 400 | is a classifier
            /v1/embeddings | {"model":"bert","input":"a","dimensions":3}                          | 400 | dimensions is 3
            /v1/embeddings | {"model":"bert","input":"a","task":"separation"}                     | 400 | the task is separation, but the model has no tasks
            /v1/embeddings | {"model":"bert","input":"a","priority":3}                            | 400 | priority is 3
            /v1/embeddings | {"model":"bert","input":"a","add_special_tokens":false}              | 400 | add_special_tokens
            /v1/embeddings | {"model":"bert","input":"a","parse_special_tokens":true}             | 400 | parse_special_tokens
            /v1/embeddings | {"model":"bert","input":"a","temperature":1}                         | 400 | unknown field temperature
            /v1/embeddings | {"model":"bert","input":[[2,100000,3]]}                              | 400 | a token id is 100000
            /score         | {"model":"bert","text_1":"a","text_2":"b"}                           | 400 | is no classifier
            /score         | {"model":"bert-labels","text_1":"a","text_2":"b"}                    | 400 | has 3 labels
            /score         | {"model":"bert-cross","text_1":["a","b"],"text_2":"b"}               | 400 | text_1 has 2 texts
            /classify      | {"model":"bert-labels","input":"a","truncate_prompt_tokens":5}       | 400 | truncate_prompt_tokens is 5
            /rerank        | {"model":"bert-cross","query":"a","documents":[]}                    | 400 | documents is an empty array
            /rerank        | {"model":"bert-cross","query":"a","documents":[7]}                   | 400 | documents[0] is 7
            /rerank        | {"model":"bert-cross","query":"a","texts":["a"],"top_n":1}           | 400 | top_n is 1
            /v2/rerank     | {"model":"bert-cross","query":"a","documents":["a"],"max_tokens_per_doc":5} | 400 | max_tokens_per_doc is 5
            /v2/embed      | {"model":"bert","texts":["a"],"input_type":"image"}                  | 400 | input_type is not known
            /v2/embed      | {"model":"bert","texts":["a"],"input_type":"search_query","truncate":"START"} | 400 | truncate must be
            /v2/embed      | {"model":"bert","texts":["a"],"input_type":"search_query","embedding_types":["int8"]} | 400 | float and base64
            /embed         | {"model":"bert","inputs":"a","truncation_direction":"left"}          | 422 | truncation_direction is
            /embed         | {"model":"bert","inputs":"a","prompt_name":"quary"}                  | 422 | the prompt is quary
            /embed_sparse  | {"model":"bert","inputs":"a"}                                        | 422 | bert gives no sparse vectors
            /predict       | {"model":"bert-labels","inputs":["a","b","c"]}                       | 422 | inputs is an array
            /api/embed     | {"model":"bert","input":"a","options":{"top_k":1}}                   | 400 | options is an object
            /api/embed     | {"model":"bert","input":"a","keep_alive":0}                          | 400 | keep_alive is 0
            """)
    void aFaultyRequestIsRefusedByName(String path, String body, int status, String words) {
        var response = server.post(path, body);

        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        assertThat(response.body()).contains(words);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\0', textBlock = """
            /v1/chat/completions     | {"model":"bert","messages":[{"role":"user","content":"a"}]}
            /v1/completions          | {"model":"bert","prompt":"a"}
            /v1/responses            | {"model":"bert","input":"a"}
            /v1/messages             | {"model":"bert","max_tokens":1,"messages":[{"role":"user","content":"a"}]}
            /api/chat                | {"model":"bert","messages":[{"role":"user","content":"a"}]}
            /completion              | {"model":"bert","prompt":"a"}
            /generate                | {"model":"bert","inputs":"a"}
            /tokenize                | {"model":"bert","prompt":"a"}
            /v2/models/bert/generate | {"text_input":"a"}
            """)
    void whoWantsAnAnswerIsToldThatItIsAnEncoder(String path, String body) {
        var response = server.post(path, body);

        assertThat(response.statusCode()).as(response.body()).isIn(400, 422);
        assertThat(response.body()).contains("bert is an encoder, which generates nothing");
    }

    @Test
    void isToldOfLikeAnyModel() {
        List<String> listed = DemoServer.json(server.get("/v1/models").body())
                .at("/data")
                .valueStream()
                .map(model -> model.at("/id").stringValue())
                .toList();
        JsonNode shown = server.ask("/api/show", "{\"model\":\"bert\"}");

        assertThat(listed).containsExactly("bert", "bert-cross", "bert-labels", "bert-tokens");
        assertThat(DemoServer.json(server.get("/v1/models/bert").body())
                        .at("/max_model_len")
                        .intValue())
                .isEqualTo(190);
        assertThat(shown.at("/capabilities/0").stringValue()).isEqualTo("embedding");
        assertThat(server.get("/api/tags").body()).contains("bert:latest");
        assertThat(server.get("/v2/models/bert/ready").statusCode()).isEqualTo(200);
        assertThat(server.get("/health").statusCode()).isEqualTo(200);
        assertThat(server.get("/ready").statusCode()).isEqualTo(200);
    }

    @Test
    void metricsCountTextsAndTokens() {
        String series = "roselle_encoder_tokens_total{model=\"bert-labels\"} ";
        int tokens = server.engine("bert-labels")
                .embed(List.of("Hi."), EmbeddingOptions.DEFAULT)
                .tokens();
        double before = value(series);

        server.ask("/classify", "{\"model\":\"bert-labels\",\"input\":" + HI + "}");

        assertThat(value(series)).isEqualTo(before + tokens);
        assertThat(value("roselle_engine_up{model=\"bert-labels\"} ")).isEqualTo(1);
    }

    private static double value(String series) {
        return server.get("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith(series))
                .mapToDouble(line -> Double.parseDouble(line.substring(series.length())))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void anEngineThatHasEndedIsNeitherHealthyNorReady() {
        try (var ending = new EncoderServer("bert")) {
            ending.engine("bert").close();

            assertThat(ending.get("/health").statusCode()).isEqualTo(503);
            assertThat(ending.get("/ready").body()).contains("the engine of bert has failed");
            assertThat(ending.post("/v1/embeddings", "{\"input\":\"a\"}").statusCode())
                    .isEqualTo(503);
        }
    }
}
