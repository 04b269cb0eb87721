package roselle.engine;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import roselle.api.CheckpointException;
import roselle.api.DeviceException;
import roselle.api.GenerationRequest;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cpu.CpuDevice;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;

/** Cuts a model's file short while an engine has it mapped, and says what becomes of requests; runs in its own process. */
public final class TruncationProbe {
    private TruncationProbe() {}

    /** A folder to work in, a model's folder, and the path of products. */
    public static void main(String[] arguments) throws IOException {
        Path folder = Path.of(arguments[0]);
        copy(Path.of(arguments[1]), folder);
        var config = EngineConfig.of(folder).with(new EngineConfig.BatchOptions(256, 4, 64, 0, 100));
        var options = CpuOptions.of(2).with(CpuPath.valueOf(arguments[2]));
        try (var engine = EngineOnDevice.open(config, new CpuDevice(options))) {
            for (int i = 0; i < 20; i++) {
                answer(engine, i);
            }
            truncate(folder);
            try {
                answer(engine, 200);
                System.out.println("an answer came from a file that is gone");
            } catch (DeviceException failed) {
                System.out.println("failed: " + failed.getMessage());
            }
            try {
                answer(engine, 1);
            } catch (DeviceException refused) {
                System.out.println("refused: " + refused.getMessage());
            }
        }
        copy(Path.of(arguments[1]), folder);
        loadWhatShrinks(folder, options);
    }

    private static void loadWhatShrinks(Path folder, CpuOptions options) throws IOException {
        Checkpoint checkpoint = Checkpoints.open(folder);
        truncate(folder);
        try {
            EngineOnDevice.load(checkpoint, EngineConfig.of(folder), new CpuDevice(options))
                    .close();
            System.out.println("an engine opened on a file that is gone");
        } catch (CheckpointException refused) {
            System.out.println("not loaded: " + refused.getMessage());
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        for (String file : new String[] {"config.json", "model.safetensors"}) {
            Files.write(to.resolve(file), Files.readAllBytes(from.resolve(file)));
        }
    }

    private static void truncate(Path folder) throws IOException {
        try (var channel = FileChannel.open(folder.resolve("model.safetensors"), StandardOpenOption.WRITE)) {
            channel.truncate(5000);
        }
    }

    private static void answer(Engine engine, int first) {
        engine.submit(GenerationRequest.builder()
                        .tokens(first + 3, first + 4, first + 5)
                        .ignoreEos(true)
                        .temperature(0)
                        .maxTokens(100)
                        .build())
                .text();
    }
}
