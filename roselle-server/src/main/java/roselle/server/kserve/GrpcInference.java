package roselle.server.kserve;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Optional;
import roselle.server.answer.Answer;
import roselle.server.answer.Answers;
import roselle.server.answer.Answers.AdmittedRequest;
import roselle.server.config.ServedModel;
import roselle.server.grpc.GrpcMessages;
import roselle.server.grpc.ProtoWriter;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import roselle.server.http.Errors;
import roselle.server.http.Exchange;
import roselle.server.http.JsonFields;

/** {@code ModelInfer}, and Triton's {@code ModelStreamInfer}, whose requests are answered one after the other. */
final class GrpcInference {
    /** Asks, by Triton's name, for an answer behind the last that says so. */
    private static final String EMPTY_FINAL = "triton_enable_empty_final_response";

    private static final String FINAL = "triton_final_response";

    private final Answers answers;
    private final Statistics statistics;

    GrpcInference(Answers answers, Statistics statistics) {
        this.answers = answers;
        this.statistics = statistics;
    }

    void infer(Exchange exchange) throws IOException {
        var messages = new GrpcMessages(exchange);
        try (var admitted = answers.admit(exchange)) {
            GrpcRequest request = GrpcRequest.read(messages.only());
            ServedModel model = model(request, admitted);
            try (var timed = statistics.begin(model)) {
                GenerateCall call = call(request, model, InferHandler.parameters(request.fields()));
                if (call.form().streams()) {
                    throw ApiException.invalid(
                            "stream", "stream is true: ModelInfer answers once, ModelStreamInfer streams");
                }
                Generated generated = InferHandler.whole(admitted, call);
                ProtoWriter response = response(call, generated);
                timed.succeeded(generated.queueNanos());
                messages.send(response);
                messages.end();
            }
        }
    }

    /** Answers each request of a stream; one that is refused ends no other. */
    void stream(Exchange exchange) throws IOException {
        var messages = new GrpcMessages(exchange);
        for (Optional<byte[]> next = messages.next(); next.isPresent(); next = messages.next()) {
            answer(exchange, messages, next.get());
        }
        messages.end();
    }

    private void answer(Exchange exchange, GrpcMessages messages, byte[] message) throws IOException {
        String id = "";
        try (var admitted = answers.admit(exchange)) {
            GrpcRequest request = GrpcRequest.read(message);
            id = request.id();
            ServedModel model = model(request, admitted);
            try (var timed = statistics.begin(model)) {
                timed.succeeded(answer(request, model, admitted, messages).queueNanos());
            }
        } catch (UncheckedIOException gone) {
            throw gone;
        } catch (RuntimeException failure) {
            ApiException error = Errors.of(failure);
            if (error.kind() == ErrorKind.DEFECT) {
                throw failure; // which is logged, and ends the stream
            }
            messages.send(new ProtoWriter().text(1, error.getMessage()).message(2, new ProtoWriter().text(3, id)));
        }
    }

    private static Generated answer(
            GrpcRequest request, ServedModel model, AdmittedRequest admitted, GrpcMessages messages)
            throws IOException {
        JsonFields parameters = InferHandler.parameters(request.fields());
        boolean tellsEnd = parameters.bool(EMPTY_FINAL, false);
        GenerateCall call = call(request, model, parameters);
        if (!call.form().streams()) {
            Generated generated = InferHandler.whole(admitted, call);
            messages.send(part(response(call, generated), true));
            return generated;
        }
        try (Answer answer = admitted.submit(model, call.request())) {
            var generated = new Generated(call, answer.promptTokens());
            while (answer.hasNext()) {
                if (generated.add(answer.next())) {
                    messages.send(part(response(call, generated), false));
                    generated.forgetWhatWasTold();
                }
            }
            if (tellsEnd) {
                messages.send(part(head(call), true));
            }
            return generated;
        }
    }

    private static ServedModel model(GrpcRequest request, AdmittedRequest admitted) {
        return new ModelPath(request.model(), request.version()).in(admitted.models());
    }

    private static GenerateCall call(GrpcRequest request, ServedModel model, JsonFields parameters) {
        Inputs inputs = InputTensors.read(request.fields(), request.rest());
        var outputs = RequestedOutputs.read(request.fields(), inputs.asked(), true);
        return InferHandler.call(model, request.fields(), parameters, inputs, outputs.names());
    }

    // ---- ModelInferResponse ----

    private static ProtoWriter head(GenerateCall call) {
        return new ProtoWriter()
                .text(1, call.model().name())
                .text(2, ModelPath.VERSION)
                .text(3, call.id());
    }

    private static ProtoWriter response(GenerateCall call, Generated generated) {
        ProtoWriter response = head(call);
        for (Output output : call.outputs()) {
            TensorData data = generated.data(output);
            var tensor = new ProtoWriter()
                    .text(1, output.wireName())
                    .text(2, output.datatype().name())
                    .packed(3, data.values().size());
            response.message(5, tensor).element(6, data.bytes());
        }
        return response;
    }

    /** A {@code ModelStreamInferResponse}. */
    private static ProtoWriter part(ProtoWriter response, boolean isFinal) {
        var value = new ProtoWriter().chosenBool(1, isFinal);
        response.message(4, new ProtoWriter().text(1, FINAL).message(2, value));
        return new ProtoWriter().message(2, response);
    }
}
