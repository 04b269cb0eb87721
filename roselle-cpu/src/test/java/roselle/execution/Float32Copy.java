package roselle.execution;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Copies of small models whose numbers of bfloat16 and float16 are stored as float32. */
public final class Float32Copy {
    private static final String WEIGHTS = "model.safetensors";

    private Float32Copy() {}

    /** Writes the copy of a folder of safetensors to a folder, which is given back. */
    public static Path of(Path model, Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(model)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path target = folder.resolve(model.relativize(file).toString());
                Files.createDirectories(target.getParent());
                if (file.endsWith(WEIGHTS)) {
                    Files.write(target, widened(Files.readAllBytes(file)));
                } else {
                    Files.copy(file, target);
                }
            }
        }
        return folder;
    }

    private static byte[] widened(byte[] bytes) {
        ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int length = Math.toIntExact(file.getLong());
        int from = Long.BYTES + length;
        var json = new String(bytes, Long.BYTES, length, StandardCharsets.UTF_8);
        var header = (ObjectNode) JsonMapper.shared().readTree(json);
        ByteBuffer numbers = ByteBuffer.allocate(2 * file.capacity()).order(ByteOrder.LITTLE_ENDIAN);
        for (Map.Entry<String, JsonNode> tensor : List.copyOf(header.properties())) {
            if (tensor.getValue().has("dtype")) {
                widen((ObjectNode) tensor.getValue(), file, from, numbers);
            }
        }
        byte[] text = header.toString().getBytes(StandardCharsets.UTF_8);
        var written = new byte[Long.BYTES + text.length + numbers.position()];
        ByteBuffer.wrap(written)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(text.length)
                .put(text)
                .put(numbers.flip());
        return written;
    }

    private static void widen(ObjectNode tensor, ByteBuffer file, int from, ByteBuffer numbers) {
        var offsets = (ArrayNode) tensor.get("data_offsets");
        int begin = from + offsets.get(0).asInt();
        int end = from + offsets.get(1).asInt();
        int to = numbers.position();
        String type = tensor.get("dtype").asString();
        boolean isHalf = type.equals("F16");
        if (isHalf || type.equals("BF16")) {
            for (int at = begin; at < end; at += Short.BYTES) {
                short number = file.getShort(at);
                numbers.putFloat(isHalf ? Float.float16ToFloat(number) : Float.intBitsToFloat(number << 16));
            }
            tensor.put("dtype", "F32");
        } else {
            numbers.put(file.slice(begin, end - begin));
        }
        offsets.removeAll();
        offsets.add(to).add(numbers.position());
    }
}
