// Hardware that can be added: one entry for each inventory of the folder `examples/drivers` and driver in it.

export interface Hardware {
  vendor: string;
  model: string;
  /** File below `examples/drivers`, without its ending. */
  file: string;
  driver: string;
  /** Classes that the inventory brings. */
  classes: readonly string[];
  /** What is special about how the driver offers it. */
  note?: string;
  /** Nodes that are offered at first. */
  nodes?: number;
  /** Devices that the first node of the inventory has. */
  perNode: number;
  /** Its devices draw on counters, so that there cannot be more or fewer. */
  isPartitioned?: true;
}

const NVIDIA = ["gpu.nvidia.com", "mig.nvidia.com", "vfio.gpu.nvidia.com"] as const;

/** By vendor; of several for one class the first is offered first. */
export const HARDWARE: readonly Hardware[] = [
  { vendor: "NVIDIA", model: "H100", file: "dranet-azure", driver: "gpu.nvidia.com", perNode: 8, classes: ["gpu.nvidia.com"], nodes: 2 },
  { vendor: "NVIDIA", model: "H200", file: "dranet-gke-nvidia", driver: "gpu.nvidia.com", perNode: 8, classes: ["gpu.nvidia.com"], nodes: 2 },
  { vendor: "NVIDIA", model: "A100", file: "nvidia-gpu", driver: "gpu.nvidia.com", perNode: 8, classes: NVIDIA },
  { vendor: "NVIDIA", model: "A100, MIG partitions", file: "nvidia-mig", driver: "gpu.nvidia.com", perNode: 50, isPartitioned: true, classes: NVIDIA, note: "two GPUs, every profile at every place" },
  { vendor: "NVIDIA", model: "GH200, MIG partitions", file: "nvidia-mig-gh200", driver: "gpu.nvidia.com", perNode: 26, isPartitioned: true, classes: NVIDIA, note: "one GPU, whole or in partitions" },
  { vendor: "NVIDIA", model: "A10, shared by four claims", file: "nvidia-shares", driver: "gpu.nvidia.com", perNode: 2, classes: NVIDIA },
  { vendor: "NVIDIA", model: "A100, for virtual machines too", file: "nvidia-vfio", driver: "gpu.nvidia.com", perNode: 16, classes: NVIDIA, note: "each GPU as container or as VFIO device" },
  {
    vendor: "NVIDIA", model: "compute domains (IMEX channels)", file: "nvidia-gpu", driver: "compute-domain.nvidia.com", perNode: 2,
    classes: ["compute-domain-daemon.nvidia.com", "compute-domain-default-channel.nvidia.com"],
  },
  {
    vendor: "NVIDIA", model: "classes alone", file: "nvidia-classes", driver: "", perNode: 0,
    classes: [...NVIDIA, "compute-domain-daemon.nvidia.com", "compute-domain-default-channel.nvidia.com"], note: "for slices that you have",
  },
  { vendor: "AMD", model: "MI300X", file: "amd-gpu", driver: "gpu.amd.com", perNode: 8, classes: ["gpu.amd.com"], nodes: 2, note: "every second node is split into partitions" },
  { vendor: "Intel", model: "Gaudi 2 and 3", file: "intel-gaudi", driver: "gaudi.intel.com", perNode: 8, classes: ["gaudi.intel.com"], nodes: 2 },
  { vendor: "Intel", model: "Arc and Data Center GPU Flex", file: "intel-gpu", driver: "gpu.intel.com", perNode: 2, classes: ["gpu.intel.com", "gpu-vfio.intel.com"], nodes: 2 },
  { vendor: "Intel", model: "QuickAssist", file: "intel-qat", driver: "qat.intel.com", perNode: 8, classes: ["qat.intel.com"] },
  { vendor: "Google", model: "TPU v5e", file: "google-tpu", driver: "tpu.google.com", perNode: 8, classes: ["tpu.google.com"], nodes: 2 },
  { vendor: "IBM", model: "Spyre AIU", file: "spyre", driver: "spyre.ibm.com", perNode: 8, classes: ["spyre.ibm.com"] },
  { vendor: "HAMi", model: "shared A10", file: "hami-gpu", driver: "hami-core-gpu.project-hami.io", perNode: 2, classes: ["hami-core-gpu.project-hami.io"] },
  { vendor: "Network", model: "InfiniBand NICs (dranet, Azure)", file: "dranet-azure", driver: "dra.net", perNode: 8, classes: ["dranet.net"], nodes: 2 },
  { vendor: "Network", model: "RDMA NICs (dranet, GKE, beside a device plugin)", file: "dranet-gke", driver: "dra.net", perNode: 9, classes: [], nodes: 2 },
  { vendor: "Network", model: "RDMA NICs (dranet, GKE, beside H200)", file: "dranet-gke-nvidia", driver: "dra.net", perNode: 9, classes: [], nodes: 2 },
  { vendor: "Network", model: "virtual interfaces (dranet, kind)", file: "dranet-kind", driver: "dra.net", perNode: 12, classes: ["dra.net"] },
  { vendor: "Network", model: "SR-IOV virtual functions", file: "sriov", driver: "sriovnetwork.k8snetworkplumbingwg.io", perNode: 16, classes: ["sriovnetwork.k8snetworkplumbingwg.io"] },
  { vendor: "CPU and memory", model: "CPUs by NUMA node", file: "dra-cpu", driver: "dra.cpu", perNode: 2, classes: ["dra.cpu"] },
  { vendor: "CPU and memory", model: "CPUs one by one", file: "dra-cpu-individual", driver: "dra.cpu", perNode: 16, classes: ["dra.cpu"] },
  { vendor: "CPU and memory", model: "memory and huge pages", file: "dra-memory", driver: "dra.memory", perNode: 4, classes: ["dra.memory", "dra.hugepages-1g", "dra.hugepages-2m"] },
  { vendor: "Example driver", model: "GPUs", file: "dra-example-driver", driver: "gpu.example.com", perNode: 8, classes: ["gpu.example.com"], nodes: 2 },
  { vendor: "Example driver", model: "GPUs in quarters", file: "dra-example-driver-partitions", driver: "gpu.example.com", perNode: 10, isPartitioned: true, classes: ["gpu.example.com"] },
  { vendor: "Example driver", model: "one GPU shared by claims", file: "dra-example-driver-shared", driver: "gpu.example.com", perNode: 1, classes: ["gpu.example.com"] },
  { vendor: "Example driver", model: "GPU with a binding condition", file: "dra-example-driver-binding", driver: "gpu.example.com", perNode: 1, classes: ["gpu.example.com"] },
  { vendor: "Example driver", model: "CPUs", file: "dra-example-driver-cpu", driver: "cpu.example.com", perNode: 1, classes: ["cpu.example.com"] },
  { vendor: "Example driver", model: "NIC with shared bandwidth", file: "dra-example-driver-net", driver: "net.example.com", perNode: 1, classes: ["net.example.com"] },
  { vendor: "Kubernetes", model: "driver of the end-to-end tests", file: "kubernetes-test-driver", driver: "test-driver.cdi.k8s.io", perNode: 4, classes: ["example"], nodes: 2 },
  { vendor: "Kubernetes", model: "devices of the documentation", file: "kubernetes-website", driver: "driver.example.com", perNode: 4, classes: [], nodes: 2 },
];

/** Names of classes that the documentation of a driver uses and its installation brings. */
const ALIASES: Readonly<Record<string, string>> = { "nvidia.com/gpu": "gpu.nvidia.com", "amd.com/gpu": "gpu.amd.com" };

/** The first hardware that serves a class or an extended resource. */
export function hardwareFor(wanted: string): Hardware | undefined {
  const name = ALIASES[wanted] ?? wanted;
  return HARDWARE.find(({ classes, driver }) => classes.includes(name) && driver !== "");
}

const LOADERS = import.meta.glob<string>("../../../examples/drivers/*.yaml", { query: "?raw", import: "default" });

/** The manifests of an inventory. */
export async function inventoryText({ file }: Hardware): Promise<string> {
  const load = LOADERS[`../../../examples/drivers/${file}.yaml`];
  if (load === undefined) throw new Error(`no inventory \`${file}\``);
  return load();
}
