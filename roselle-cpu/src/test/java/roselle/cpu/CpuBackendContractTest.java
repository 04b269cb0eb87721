package roselle.cpu;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIf;
import roselle.backend.Device;
import roselle.backend.LatentContract;
import roselle.backend.ReferenceContract;
import roselle.cpu.gemm.GemmTest;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;

/** The CPU keeps the contract of a device on each path that the processor offers. */
class CpuBackendContractTest {
    /** Whether a path is to be had, and is another one than that which {@link Auto} takes. */
    private static boolean isApart(CpuPath path) {
        boolean isTaken = CpuDevice.describe(CpuOptions.all()).startsWith(path.label() + ",");
        return CpuDevice.paths().contains(path) && !isTaken;
    }

    /** A backend that multiplies on one path; more threads than one share the work of {@link Auto}. */
    abstract static class OnPath extends ReferenceContract {
        private final CpuPath path;

        OnPath(CpuPath path) {
            this.path = path;
        }

        @Override
        protected Device open() {
            return new CpuDevice(CpuOptions.of(1).with(path));
        }
    }

    @Nested
    class Auto extends LatentContract {
        @Override
        protected Device open() {
            return new CpuDevice(CpuOptions.all().with(CpuPath.AUTO));
        }
    }

    @Nested
    class Vector extends OnPath {
        Vector() {
            super(CpuPath.VECTOR);
        }
    }

    @Tag("long")
    @Nested
    @EnabledIf("isApart")
    class Avx2 extends OnPath {
        Avx2() {
            super(CpuPath.AVX2);
        }

        static boolean isApart() {
            return CpuBackendContractTest.isApart(CpuPath.AVX2);
        }
    }

    @Tag("long")
    @Nested
    @EnabledIf("isApart")
    class Avx512 extends OnPath {
        Avx512() {
            super(CpuPath.AVX512);
        }

        static boolean isApart() {
            return CpuBackendContractTest.isApart(CpuPath.AVX512);
        }
    }

    /** No tolerance is wider here: only quantized weights meet bytes, and {@link GemmTest} holds those to their twin. */
    @Tag("long")
    @Nested
    @EnabledIf("isApart")
    class Vnni extends OnPath {
        Vnni() {
            super(CpuPath.VNNI);
        }

        static boolean isApart() {
            return CpuBackendContractTest.isApart(CpuPath.VNNI);
        }
    }

    @Tag("long")
    @Nested
    @EnabledIf("isApart")
    class Bf16 extends OnPath {
        Bf16() {
            super(CpuPath.BF16);
        }

        static boolean isApart() {
            return CpuBackendContractTest.isApart(CpuPath.BF16);
        }
    }

    @Tag("long")
    @Nested
    @EnabledIf("isApart")
    class Amx extends OnPath {
        Amx() {
            super(CpuPath.AMX);
        }

        static boolean isApart() {
            return CpuBackendContractTest.isApart(CpuPath.AMX);
        }
    }
}
