package roselle.checkpoint.huggingface;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.StringJoiner;
import roselle.checkpoint.gguf.GgufWriter;
import roselle.tensor.Tensor;

/** Writes safetensors files for tests. */
public final class SafetensorsWriter {
    private SafetensorsWriter() {}

    public static byte[] toBytes(List<Tensor> tensors) {
        var data = new ByteArrayOutputStream();
        var header = new StringJoiner(",", "{", "}");
        for (Tensor tensor : tensors) {
            int start = data.size();
            data.writeBytes(tensor.data().toArray(ValueLayout.JAVA_BYTE));
            header.add("\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%d,%d]}"
                    .formatted(
                            tensor.name(),
                            tensor.type(),
                            Arrays.toString(tensor.shape().toArray()),
                            start,
                            data.size()));
        }
        return toBytes(header.toString(), data.toByteArray());
    }

    /** A file with any header, right or wrong. */
    public static byte[] toBytes(String header, byte[] data) {
        return toBytes(header.getBytes(StandardCharsets.UTF_8).length, header, data);
    }

    public static byte[] toBytes(long statedLength, String header, byte[] data) {
        byte[] json = header.getBytes(StandardCharsets.UTF_8);
        return GgufWriter.little(
                8 + json.length + data.length,
                bytes -> bytes.putLong(statedLength).put(json).put(data));
    }
}
