package roselle.spark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.SparkEnv;
import org.apache.spark.SparkFiles;
import org.apache.spark.TaskContext;
import roselle.api.CheckpointException;
import roselle.backend.DeviceOptions;
import roselle.backend.UserCache;
import roselle.embedding.EmbeddingConfig;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.CacheOptions;
import roselle.hub.BundledModel;

/** What an executor opens: tasks that want the same share it. */
record ModelSpec(
        String model, DeviceOptions device, BatchOptions batch, String kvType, long kvMemory, int rowsAtATime) {
    private static final String GPU = "gpu";

    /** What a task wants: its own GPU where Spark's resource discovery gave it one. */
    static ModelSpec of(Settings settings, TaskContext task) {
        int maxSequences = (int) settings.number(Setting.MAX_SEQUENCES, 1, BatchOptions.MAX_SIZE);
        int atATime = settings.whole(Setting.ROWS_AT_A_TIME);
        int places = atATime > 0 ? atATime : 2 * maxSequences;
        return new ModelSpec(
                settings.text(Setting.MODEL),
                new DeviceOptions(
                        device(settings.text(Setting.DEVICE), task),
                        threads(settings.whole(Setting.THREADS)),
                        DeviceOptions.AUTO,
                        settings.text(Setting.COMPUTE)),
                new BatchOptions(
                        settings.whole(Setting.CONTEXT),
                        maxSequences,
                        Math.max(maxSequences, settings.whole(Setting.STEP_TOKENS)),
                        0,
                        Math.max(1024, places)),
                settings.text(Setting.KV_TYPE),
                settings.size(Setting.KV_MEMORY),
                places);
    }

    private static String device(String asked, TaskContext task) {
        var gpus = task.resourcesJMap().get(GPU);
        return asked.equals(DeviceOptions.AUTO) && gpus != null && gpus.addresses().length > 0
                ? "cuda:" + gpus.addresses()[0]
                : asked;
    }

    /** Other executors of the same machine have the other cores. */
    private static int threads(int asked) {
        return asked > 0 ? asked : SparkEnv.get().conf().getInt("spark.executor.cores", 0);
    }

    EngineConfig engine() {
        return EngineConfig.of(path())
                .with(device)
                .with(batch)
                .with(new CacheOptions(kvType, kvMemory, CacheOptions.DEFAULT.pageTokens(), true));
    }

    EmbeddingConfig encoder() {
        return EmbeddingConfig.of(engine());
    }

    private Path path() {
        var bundled = BundledModel.named(model);
        try {
            if (bundled.isPresent()) {
                return bundled.get().unpackInto(UserCache.folder().resolve("models"));
            }
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot unpack " + model + ": " + failure.getMessage(), failure);
        }
        for (Path place : new Path[] {Path.of(model), Path.of(SparkFiles.get(model))}) {
            if (Files.exists(place)) {
                return place;
            }
        }
        throw new CheckpointException(
                model + " is not on this executor: put it there, or give it to SparkContext.addFile and name the file");
    }
}
