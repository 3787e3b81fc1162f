// The package for browsers, workers and bundlers: `init` loads the module from beside this file.

export { version } from "./apportion.js";
export {
  Engine,
  allocate,
  allocateText,
  convert,
  evaluate,
  evaluateText,
  validate,
  validateSet,
  validateText,
} from "./engine.js";
export { Controller } from "./controller.js";
export { ChangedError, RequestError, SettingsError } from "./errors.js";
export { History } from "./history.js";
export { StoppedError } from "./instance.js";
export { Manifests, readYaml } from "./manifests.js";
export { Simulation, inspect, readScript } from "./simulation.js";
export { init, initSync } from "./start.js";
