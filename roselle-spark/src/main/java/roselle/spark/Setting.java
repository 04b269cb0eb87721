package roselle.spark;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;

/** What can be set, under the name that maps of options, SQL and parameters of transformers have for it. */
enum Setting {
    MODEL("model", "", "A path that is there on every executor, a file of SparkContext.addFile by its name, or demo."),
    DEVICE("device", "auto", "auto, cpu, cuda or cuda:N; auto is the task's own GPU where Spark assigns one."),
    THREADS("threads", "0", "Threads of the CPU; 0 for spark.executor.cores, or one for each core."),
    COMPUTE(
            "compute",
            "auto",
            "What products round their factors to; auto is what each executor's processor is fastest with."),
    CONTEXT("context", "0", "Tokens of the longest row, prompt and answer; 0 for the model's own limit."),
    MAX_SEQUENCES("maxSequences", "64", "Rows that are in a step of the engine at a time."),
    STEP_TOKENS("stepTokens", "512", "Tokens of a step at most, prompts and answers together."),
    KV_TYPE("kvType", "auto", "The type of keys and values."),
    KV_MEMORY("kvMemory", "0", "Bytes for keys and values; 0 for what maxSequences need."),

    PROMPT_COL("promptCol", "prompt", "The column of texts to answer."),
    MESSAGES_COL(
            "messagesCol",
            "",
            "The column of conversations, arrays of structs with role and content, in the place of promptCol."),
    SEED_COL("seedCol", "", "A column of numbers, each its row's seed; else equal prompts have equal seeds."),
    MAX_TOKENS_COL("maxTokensCol", "", "A column of numbers, each its row's maxTokens."),
    SYSTEM("system", "", "A system message before each prompt."),
    RAW("raw", "false", "Whether prompts are continued as they are, without the model's chat template."),

    TEMPERATURE("temperature", "", "0 takes the likeliest token; else as the model advises, or 1."),
    TOP_P("topP", "", "The smallest set of likeliest tokens whose probabilities reach this sum."),
    TOP_K("topK", "", "The k likeliest tokens."),
    MIN_P("minP", "", "Tokens no less likely than this share of the likeliest."),
    REPETITION_PENALTY("repetitionPenalty", "", "Divides the logits of tokens that were seen; 1 is off."),
    PRESENCE_PENALTY("presencePenalty", "", "Taken from the logits of tokens that the answer has."),
    FREQUENCY_PENALTY("frequencyPenalty", "", "The same for each time that the answer has them."),
    MAX_TOKENS("maxTokens", "", "Tokens of an answer at most; else as many as the context holds."),
    STOP("stop", "", "A text that ends an answer and is no part of it."),
    SEED("seed", "0", "What the seeds of rows are made from, with their prompts."),
    SCHEMA("schema", "", "Columns that the answer must have, as Spark writes them: name STRING NOT NULL, age INT."),
    JSON_SCHEMA("jsonSchema", "", "A JSON schema that the answer's text must keep to."),
    REGEX("regex", "", "A regular expression that the answer's text must match."),

    INPUT_COL("inputCol", "text", "The column of texts whose vectors are wanted."),
    OUTPUT_COL("outputCol", "embedding", "The new column of vectors."),
    DIMENSIONS("dimensions", "0", "Numbers that stay of each vector; 0 for all."),
    TRUNCATE("truncate", "false", "Whether the end of a text that is too long is left out; else it is an error."),
    PROMPT_NAME("promptName", "", "One of the model's own prompts, which goes before each text."),

    OUTPUT_PREFIX("outputPrefix", "", "Goes before the names of the new columns."),
    ON_ERROR("onError", "row", "row: what a row is to blame for stands in its column error; fail: it fails the job."),
    DEADLINE_SECONDS("deadlineSeconds", "0", "How long a row may take once the engine has it; 0 for any time."),
    TIME_LIMIT_SECONDS(
            "timeLimitSeconds", "0", "How long an attempt of a partition may take; rows that are late are errors."),
    CHECKPOINT("checkpoint", "", "A folder that all executors reach, where answers are kept for attempts that follow."),
    CHECKPOINT_ROWS("checkpointRows", "256", "Answers that are written there at a time, sooner after ten seconds."),
    ROWS_AT_A_TIME(
            "rowsAtATime", "0", "Rows of all tasks that an engine is given at a time; 0 for twice maxSequences."),
    AHEAD_MIB("aheadMiB", "16", "Memory of each task for rows and answers ahead of the row that is next.");

    /** What opens an engine. */
    private static final Set<Setting> ENGINE = EnumSet.range(MODEL, KV_MEMORY);

    private static final Set<Setting> RUN = EnumSet.range(OUTPUT_PREFIX, AHEAD_MIB);

    private final String key;
    private final String standard;
    private final String description;

    Setting(String key, String standard, String description) {
        this.key = key;
        this.standard = standard;
        this.description = description;
    }

    String key() {
        return key;
    }

    String standard() {
        return standard;
    }

    String description() {
        return description;
    }

    /** What generating knows. */
    static Set<Setting> ofGeneration() {
        var all = EnumSet.range(PROMPT_COL, REGEX);
        all.addAll(ENGINE);
        all.addAll(RUN);
        return all;
    }

    /** What embedding knows. */
    static Set<Setting> ofEmbedding() {
        var all = EnumSet.of(MODEL, DEVICE, THREADS, COMPUTE, CONTEXT, STEP_TOKENS);
        all.addAll(EnumSet.range(INPUT_COL, PROMPT_NAME));
        all.addAll(EnumSet.of(OUTPUT_PREFIX, ON_ERROR, DEADLINE_SECONDS, ROWS_AT_A_TIME, AHEAD_MIB));
        return all;
    }

    static Setting named(String name) {
        return Arrays.stream(values())
                .filter(each -> each.key.equalsIgnoreCase(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no option " + name));
    }
}
