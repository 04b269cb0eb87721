package roselle.quantization.folder;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import roselle.api.CheckpointException;
import roselle.checkpoint.huggingface.FolderFiles;
import roselle.quantization.Quantization;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** What a folder has beside its tensors: the index, the configuration, and all else that is no weights. */
final class FilesBeside {
    /** What the name of a file ends with until it is whole. */
    static final String PART = ".part";

    private static final String SAFETENSORS = ".safetensors";
    private static final Set<String> WEIGHTS = Set.of(
            "bin", "pt", "pth", "ckpt", "gguf", "ggml", "onnx", "onnx_data", "h5", "msgpack", "ot", "npz", "tflite");
    private static final Pattern NOTHING = Pattern.compile("\"" + Quantization.FIELD + "\"\\s*:\\s*null");

    private final FolderPlan plan;
    private final Path source;
    private final Path target;

    FilesBeside(FolderPlan plan, Path target) {
        this.plan = plan;
        this.target = target;
        source = plan.source().source();
    }

    /** Fails where the folder has tensors, or a configuration, that were not made here of these files. */
    void requireFree() throws IOException {
        if (!Files.exists(target)) {
            return;
        }
        boolean hasOurs = false;
        try (Stream<Path> files = Files.list(target)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                String name = file.getFileName().toString();
                if (name.endsWith(SAFETENSORS)) {
                    requireOurs(file, plan.shards().containsKey(name) && Shard.isOurs(file));
                    hasOurs = true;
                }
            }
        }
        Path config = target.resolve(FolderFiles.CONFIG);
        if (Files.exists(config)) {
            requireOurs(config, hasOurs || Files.readString(config).equals(configuration()));
        }
    }

    private static void requireOurs(Path file, boolean isOurs) {
        if (!isOurs) {
            throw new CheckpointException(
                    file + " is of another model; name a folder that is not there yet, or is empty");
        }
    }

    /** What would call a folder a model that has become none, until it is whole again. */
    void forgetConfiguration() throws IOException {
        Files.deleteIfExists(target.resolve(FolderFiles.CONFIG));
    }

    /** Writes all of it, the configuration last. */
    void write() throws IOException {
        copy();
        if (Files.exists(source.resolve(FolderFiles.SAFETENSORS))) {
            Files.deleteIfExists(target.resolve(FolderFiles.SAFETENSORS_INDEX));
        } else {
            write(FolderFiles.SAFETENSORS_INDEX, index());
        }
        write(FolderFiles.CONFIG, configuration());
    }

    private void copy() throws IOException {
        try (Stream<Path> files = Files.walk(source, 2)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path relative = source.relativize(file);
                if (isCopied(relative)) {
                    Path copy = target.resolve(relative);
                    Files.createDirectories(FolderFiles.folderOf(copy));
                    Files.copy(file, copy, StandardCopyOption.REPLACE_EXISTING);
                }
            }
        }
    }

    /** Tensors of the model are written anew; those of modules in folders of their own are not the model's. */
    private static boolean isCopied(Path relative) {
        String name = String.valueOf(relative.getFileName());
        boolean isModel = relative.getNameCount() == 1
                && (name.endsWith(SAFETENSORS) || name.endsWith(".index.json") || name.equals(FolderFiles.CONFIG));
        boolean isHidden = relative.toString().startsWith(".") || name.startsWith(".");
        return !isModel && !isHidden && !WEIGHTS.contains(name.substring(name.lastIndexOf('.') + 1));
    }

    private String index() {
        ObjectNode index = JsonMapper.shared().createObjectNode();
        index.putObject("metadata").put("total_size", plan.bytes());
        ObjectNode map = index.putObject("weight_map");
        plan.shards().forEach((file, tensors) -> {
            for (FolderTensor tensor : tensors) {
                tensor.stored().forEach(stored -> map.put(stored.name(), file));
            }
        });
        return index.toPrettyString();
    }

    /** The source's, as it is written, with one field more. */
    private String configuration() throws IOException {
        String text = Files.readString(source.resolve(FolderFiles.CONFIG));
        String field = "\"" + Quantization.FIELD + "\": " + plan.type().configuration(plan.ignored());
        return plan.source().config().keys().contains(Quantization.FIELD)
                ? NOTHING.matcher(text).replaceFirst(Matcher.quoteReplacement(field))
                : text.replaceFirst("\\{", Matcher.quoteReplacement("{\n  " + field + ","));
    }

    private void write(String name, String text) throws IOException {
        Path part = target.resolve(name + PART);
        Files.writeString(part, text);
        Files.move(part, target.resolve(name), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
