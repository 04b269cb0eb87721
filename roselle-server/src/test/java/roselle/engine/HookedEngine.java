package roselle.engine;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import roselle.backend.Device;
import roselle.backend.step.StepInputs;
import roselle.checkpoint.Checkpoint;
import roselle.tokenizer.EncodeOptions;
import roselle.tokenizer.Tokenizer;

/** Engines whose steps a test of another package hears of. */
public final class HookedEngine {
    private HookedEngine() {}

    /** Opens an engine on a device of a test's own, which the engine closes. */
    public static Engine open(EngineConfig config, Device device) {
        return new EngineAssembly(config, StartObserver.NONE) {
            @Override
            Device device(Checkpoint checkpoint) {
                return device;
            }
        }.open();
    }

    /** Opens an engine whose logits are NaN while {@code fails}. */
    public static Engine openFailing(EngineConfig config, BooleanSupplier fails) {
        Device device = Devices.open(config.device());
        var hooked = (Device) Proxy.newProxyInstance(
                Device.class.getClassLoader(), new Class<?>[] {Device.class}, (_, method, arguments) -> {
                    try {
                        Object answer = method.invoke(device, arguments);
                        if (method.getName().equals("read") && fails.getAsBoolean()) {
                            ((MemorySegment) arguments[3]).fill((byte) 0xFF);
                        }
                        return answer;
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                });
        return open(config, hooked);
    }

    /** Opens an engine that calls {@code afterRead} on its own thread whenever it has read a step's logits. */
    public static Engine open(EngineConfig config, Runnable afterRead) {
        Device device = Devices.open(config.device());
        var hooked = (Device) Proxy.newProxyInstance(
                Device.class.getClassLoader(), new Class<?>[] {Device.class}, (_, method, arguments) -> {
                    try {
                        Object answer = method.invoke(device, arguments);
                        if (method.getName().equals("read")) {
                            afterRead.run();
                        }
                        return answer;
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                });
        return open(config, hooked);
    }

    /**
     * Opens an engine that answers what a script says, one request at a time.
     *
     * @param script from the prompt as text, special tokens as they are spelled, to the answer as text, in which they are meant
     */
    public static Engine openScripted(EngineConfig config, UnaryOperator<String> script) {
        Device device = Devices.open(config.device());
        var teller = new ScriptTeller(script);
        var hooked = (Device) Proxy.newProxyInstance(
                Device.class.getClassLoader(), new Class<?>[] {Device.class}, (_, method, arguments) -> {
                    try {
                        Object answer = method.invoke(device, arguments);
                        switch (method.getName()) {
                            case "submit" -> teller.hear((StepInputs) arguments[0]);
                            case "read" -> teller.tell((MemorySegment) arguments[3]);
                            default -> {}
                        }
                        return answer;
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                });
        Engine engine = open(config, hooked);
        teller.tokenizer = engine.tokenizer();
        return engine;
    }

    /** Hears the prompt of the one sequence that runs, and makes the tokens of its answer the likeliest. */
    private static final class ScriptTeller {
        private final UnaryOperator<String> script;
        private final List<Integer> known = new ArrayList<>(); // ids of the sequence so far
        private final Deque<Integer> answer = new ArrayDeque<>();
        private boolean isAnswering;
        private @Nullable Tokenizer tokenizer;

        ScriptTeller(UnaryOperator<String> script) {
            this.script = script;
        }

        /** A sequence that begins, perhaps behind what is cached of the one before, has several rows, or leaves some of that out. */
        void hear(StepInputs inputs) {
            int begin = inputs.positions[0];
            if (inputs.rows > 1 || begin != known.size()) {
                answer.clear();
                isAnswering = false;
            }
            known.subList(begin, known.size()).clear();
            for (int row = 0; row < inputs.rows; row++) {
                known.add(inputs.tokenIds[row]);
            }
        }

        void tell(MemorySegment logits) {
            if (!isAnswering) {
                isAnswering = true;
                Tokenizer words = Objects.requireNonNull(tokenizer);
                String asked = words.decode(known.stream().mapToInt(id -> id).toArray(), false);
                for (int id : words.encode(script.apply(asked) + "<|im_end|>", new EncodeOptions(false, true))) {
                    answer.add(id);
                }
            }
            for (long at = 0; at + Float.BYTES <= logits.byteSize(); at += Float.BYTES) {
                logits.set(ValueLayout.JAVA_FLOAT, at, -100);
            }
            logits.set(ValueLayout.JAVA_FLOAT, (long) answer.remove() * Float.BYTES, 100);
        }
    }
}
