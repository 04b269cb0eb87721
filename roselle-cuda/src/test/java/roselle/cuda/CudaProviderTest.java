package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.api.CapacityException;
import roselle.api.DeviceException;
import roselle.backend.DeviceOptions;
import roselle.backend.ModelWeights;
import roselle.cuda.FakeDriver.Card;
import roselle.cuda.driver.Driver;
import roselle.cuda.driver.NativeLibrary;
import roselle.cuda.kernel.CubinCache;
import roselle.cuda.kernel.Cubins;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.memory.Gpu;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineOnDevice;
import roselle.tensor.DataType;

/** What users read where a device is missing, too old or too small. */
class CudaProviderTest {
    private static final Path MODEL = Path.of("../roselle-engine/src/test/resources/tiny-models/llama");

    private static CudaProvider provider(Supplier<Driver> driver) {
        return new CudaProvider(driver, () -> FakeKernels::cubin);
    }

    private static DeviceOptions computing(String type) {
        return new DeviceOptions("cuda", 0, "auto", type);
    }

    @Test
    void opensTheDriverOnceForTheQuestionAndTheDevice() {
        var opened = new AtomicInteger();
        var driver = new FakeDriver(Card.HOPPER);
        var provider = provider(() -> {
            opened.incrementAndGet();
            return driver;
        });
        assertThat(provider.unavailable()).isEmpty();
        try (var backend = provider.open(0, computing("auto"), ModelWeights.UNKNOWN.preferringDigits())) {
            assertThat(backend.activationType()).isEqualTo(DataType.F16);
        }
        try (var backend = provider.open(0, computing("auto"), ModelWeights.UNKNOWN)) {
            assertThat(backend.describe()).isEqualTo("cuda:0, Fake H200, rows in bf16, kernels for sm_90a");
        }
        assertThat(opened).hasValue(1);
        assertThat(driver.leaks()).isEmpty();
    }

    @Test
    void multipliesInFp8WhereItIsAskedForAndThereAreTensorCoresForIt() {
        var driver = new FakeDriver(Card.HOPPER);
        try (var device = provider(() -> driver).open(0, computing("fp8"), ModelWeights.UNKNOWN)) {
            assertThat(device.describe())
                    .isEqualTo(
                            "cuda:0, Fake H200, rows in bf16, products with weights in FP8 in FP8, kernels for sm_90a");
        }
        var older = new FakeDriver(Card.AMPERE);
        assertThatThrownBy(() -> provider(() -> older).open(0, computing("fp8"), ModelWeights.UNKNOWN))
                .isInstanceOf(DeviceException.class)
                .hasMessageStartingWith("products in FP8 need a Hopper GPU, and ")
                .hasMessageEndingWith(" is one of sm_80: take --compute bf16");
        assertThat(driver.leaks()).isEmpty();
        assertThat(older.leaks()).isEmpty();
    }

    @Test
    void saysWhichLibraryIsMissingWhereItWasLookedForAndWhatToDo() {
        assertThatThrownBy(() -> NativeLibrary.open("libroselle-test.so.7", "install it"))
                .isInstanceOf(DeviceException.class)
                .hasCauseInstanceOf(NoSuchFileException.class)
                .hasMessageStartingWith("libroselle-test.so.7 was not found on the loader's path nor in ")
                .hasMessageEndingWith(": install it");
        var provider = provider(() -> {
            throw new DeviceException("libcuda.so.1 was not found", new NoSuchFileException("libcuda.so.1"));
        });
        assertThat(provider.unavailable()).contains("libcuda.so.1 was not found");
    }

    @Test
    void aDriverThatIsThereButDoesNotStartIsUnusableNotMissing() {
        String reason = "NVIDIA's driver does not start, cuInit failed with CUDA_ERROR_SYSTEM_DRIVER_MISMATCH";
        var provider = provider(() -> {
            throw new DeviceException(reason);
        });
        assertThat(provider.unavailable()).isEmpty();
        assertThat(provider.unusable()).contains(reason);
        assertThatThrownBy(() -> provider.open(0, computing("auto"), ModelWeights.UNKNOWN))
                .hasMessage(reason);
    }

    @Test
    void returnsAllWhereTheCompilerIsMissing() {
        var driver = new FakeDriver(Card.HOPPER);
        var provider = new CudaProvider(() -> driver, () -> (_, _) -> {
            throw new DeviceException("libnvrtc.so.13 was not found");
        });
        assertThatThrownBy(() -> provider.open(0, computing("bf16"), ModelWeights.UNKNOWN))
                .hasMessage("libnvrtc.so.13 was not found");
        assertThat(driver.leaks()).isEmpty();
    }

    @Test
    void isUnusableWithoutTheCompilerAndWithoutMachineCodeOfBefore(@TempDir Path cubins) throws IOException {
        var compilers = new AtomicInteger();
        var driver = new FakeDriver(Card.HOPPER);
        var cache = new CubinCache(cubins, List.of(), () -> {
            compilers.incrementAndGet();
            throw new DeviceException("libnvrtc.so.13 was not found");
        });
        var provider = new CudaProvider(() -> driver, () -> cache);
        assertThat(provider.unavailable()).isEmpty();
        assertThat(provider.unusable()).contains("libnvrtc.so.13 was not found");
        assertThatThrownBy(() -> provider.open(0, computing("bf16"), ModelWeights.UNKNOWN))
                .hasMessage("libnvrtc.so.13 was not found");
        for (KernelSource source : KernelSource.all()) {
            if (source.isForEveryModel()) {
                cache.keep(cache.file(source, "sm_90a"), FakeKernels.cubin(source, "sm_90a"));
            }
        }
        int before = compilers.get();
        assertThat(provider.unusable()).isEmpty();
        provider.open(0, computing("bf16"), ModelWeights.UNKNOWN).close();
        assertThat(compilers).as("compilers that were looked for").hasValue(before);
        Files.write(cache.file(KernelSource.SAMPLE, "sm_90a"), new byte[] {1, 2, 3});
        assertThat(provider.unusable()).as("with one broken file").contains("libnvrtc.so.13 was not found");
        assertThat(driver.leaks()).isEmpty();
    }

    @Test
    void keptMachineCodeThatDoesNotLoadIsCompiledAnew() {
        var broken = new FakeDriver.Fault(200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid", false);
        var driver = new FakeDriver(Card.HOPPER);
        var renewed = new AtomicInteger();
        var cubins = new Cubins() {
            @Override
            public byte[] cubin(KernelSource source, String architecture) {
                return FakeKernels.cubin(source, architecture);
            }

            @Override
            public Optional<byte[]> anew(KernelSource source, String architecture) {
                renewed.incrementAndGet();
                return Optional.of(FakeKernels.cubin(source, architecture));
            }
        };
        driver.failAfter("cuModuleLoadData", 2, broken);
        new CudaProvider(() -> driver, () -> cubins)
                .open(0, computing("bf16"), ModelWeights.UNKNOWN)
                .close();
        assertThat(renewed).hasValue(1);
        driver.failAfter("cuModuleLoadData", 2, broken);
        assertThatThrownBy(() -> provider(() -> driver).open(0, computing("bf16"), ModelWeights.UNKNOWN))
                .isInstanceOf(DeviceException.class)
                .hasMessageContaining("CUDA_ERROR_INVALID_IMAGE");
        assertThat(driver.leaks()).isEmpty();
    }

    @Test
    void saysThatThereIsNoDeviceOfThatNumber() {
        var driver = new FakeDriver(Card.HOPPER);
        assertThatThrownBy(() -> provider(() -> driver).open(3, computing("bf16"), ModelWeights.UNKNOWN))
                .isInstanceOf(DeviceException.class)
                .hasMessage("there is no device cuda:3: the driver shows 1 device, counted from 0; where"
                        + " CUDA_VISIBLE_DEVICES is set, it chooses which");
        driver.pretendDevices(0);
        assertThat(provider(() -> driver).unavailable())
                .contains(
                        "the driver shows no device: see what nvidia-smi says, and whether CUDA_VISIBLE_DEVICES hides it");
    }

    @Test
    void saysBothVersionsWhereTheDriverIsTooOld() {
        var driver = new FakeDriver(Card.HOPPER);
        driver.pretendVersion(11_040);
        String reason =
                "the driver of Fake H200 runs CUDA 11.4 at most: Roselle needs a driver for CUDA 12.0 or newer (525)";
        assertThat(provider(() -> driver).unavailable()).isEmpty();
        assertThat(provider(() -> driver).unusable()).contains(reason);
        assertThatThrownBy(() -> provider(() -> driver).open(0, computing("f16"), ModelWeights.UNKNOWN))
                .isInstanceOf(DeviceException.class)
                .hasMessage(reason);
        assertThat(driver.leaks()).isEmpty();
    }

    @Test
    void saysBothCapabilitiesWhereTheDeviceIsTooOld() {
        var driver = new FakeDriver(new Card("Fake V100", 7, 0, 80, 96 << 10, 1L << 30));
        assertThat(provider(() -> driver).unusable())
                .contains("Fake V100 has compute capability 7.0: Roselle needs 8.0 or newer (Ampere)");
    }

    @Test
    void refusesTypesThatItDoesNotKnow() {
        var driver = new FakeDriver(Card.HOPPER);
        assertThatThrownBy(() -> provider(() -> driver).open(0, computing("f8"), ModelWeights.UNKNOWN))
                .hasMessage("a CUDA device computes in auto, bf16, f16, f32 or fp8, not in f8");
        assertThat(driver.calls()).isZero();
    }

    private static Engine open(FakeDriver driver, int context) {
        var config = EngineConfig.of(MODEL)
                .with(new BatchOptions(context, 4, 64, 0, 4))
                .withAdapterMemory(0);
        return EngineOnDevice.open(config, driver.open(DataType.BF16));
    }

    @Test
    void refusesWhatDoesNotFitWithBothNumbersAndTheLargestContextThatDoes() {
        Card small = Card.HOPPER.withBytes(160 << 20);
        int largest;
        var driver = new FakeDriver(small);
        try {
            open(driver, 1_000_000).close();
            throw new AssertionError("a context of a million tokens fits");
        } catch (CapacityException refused) {
            String message = String.valueOf(refused.getMessage());
            assertThat(message)
                    .matches("a context of 1000000 tokens needs [0-9.]+ [MG]iB of KV cache and [0-9.]+ [MG]iB in all,"
                            + " but there are 90.0 MiB and 90.0 MiB; the largest context that fits is [0-9]+");
            largest = Integer.parseInt(message.substring(message.lastIndexOf(' ') + 1));
        }
        assertThat(driver.leaks()).isEmpty();
        assertThatThrownBy(() -> open(new FakeDriver(small), largest + 1)).isInstanceOf(CapacityException.class);
        try (Engine engine = open(new FakeDriver(small), largest)) {
            FakeDeviceTest.generate(engine);
        }
    }

    @Test
    void whatWritesGoesBeforeWhatReads() {
        var goFirst = new ArrayList<Boolean>();
        var driver = new FakeDriver(Card.HOPPER) {
            @Override
            public synchronized long createStream(boolean goesFirst) {
                goFirst.add(goesFirst);
                return super.createStream(goesFirst);
            }
        };
        var provider = provider(() -> driver);
        provider.open(0, computing("bf16"), ModelWeights.UNKNOWN.yielding()).close();
        provider.open(0, computing("bf16"), ModelWeights.UNKNOWN).close();
        assertThat(goFirst).containsExactly(false, true);
    }

    @Test
    void tellsBothNumbersWhereOthersTookWhatWasFree() {
        var device = new Gpu(new FakeDriver(Card.HOPPER.withBytes(1L << 30)), 0, true);
        device.memory().allocate(300 << 20);
        assertThatThrownBy(() -> device.memory().allocate(800 << 20))
                .isInstanceOf(DeviceException.class)
                .hasMessageStartingWith("the device has 0.71 GiB free and 0.78 GiB more are needed, after 0.29 GiB: ");
    }
}
