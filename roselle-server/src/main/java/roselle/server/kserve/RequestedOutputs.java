package roselle.server.kserve;

import java.io.ByteArrayOutputStream;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;

/** The output tensors that a request names, or that it is told where it names none, and how each is sent. */
final class RequestedOutputs {
    private static final int MOST = 64;

    private final Map<Output, Boolean> areBinary;

    private RequestedOutputs(Map<Output, Boolean> areBinary) {
        this.areBinary = areBinary;
    }

    /** Reads them; {@code isBinary} holds where an output does not say otherwise. */
    static RequestedOutputs read(JsonFields fields, Set<Output> unnamed, boolean isBinary) {
        Map<Output, Boolean> areBinary = new LinkedHashMap<>();
        for (JsonFields each : fields.objects("outputs", MOST)) {
            Output output = Output.named(each.requiredString("name"))
                    .orElseThrow(() -> ApiException.invalid(
                            each.path("name"), each.path("name") + " is no output of the model: see its metadata"));
            areBinary.put(
                    output,
                    each.object("parameters")
                            .map(parameters -> isBinary(parameters, isBinary))
                            .orElse(isBinary));
            each.refuseOthers();
        }
        if (areBinary.isEmpty()) {
            unnamed.forEach(output -> areBinary.put(output, isBinary));
        }
        return new RequestedOutputs(areBinary);
    }

    private static boolean isBinary(JsonFields parameters, boolean otherwise) {
        SharedMemory.refuse(parameters);
        parameters.requireDefault("classification", "there are no classes to tell of", 0L);
        boolean isBinary = parameters.bool("binary_data", otherwise);
        parameters.refuseOthers();
        return isBinary;
    }

    Set<Output> names() {
        return EnumSet.copyOf(areBinary.keySet());
    }

    boolean hasBinary() {
        return areBinary.containsValue(true);
    }

    /** Writes the tensors into an array, and the elements of those that are sent as bytes into {@code bytes}. */
    void write(JsonWriter json, Generated generated, ByteArrayOutputStream bytes) {
        areBinary.forEach((output, isBinary) -> {
            TensorData data = generated.data(output);
            json.object()
                    .field("name", output.wireName())
                    .field("datatype", output.datatype().name());
            json.array("shape").value(data.values().size()).endArray();
            if (isBinary) {
                byte[] own = data.bytes();
                bytes.writeBytes(own);
                json.object("parameters").field("binary_data_size", own.length).endObject();
            } else {
                data.write(json.array("data")).endArray();
            }
            json.endObject();
        });
    }
}
