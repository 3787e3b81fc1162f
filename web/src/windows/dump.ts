// Commands that print what the page can make use of, with nothing secret in it.

export const DUMP = "kubectl get deviceclasses,resourceslices,nodes -o yaml";
export const DUMP_ALL = "kubectl get deviceclasses,resourceslices,nodes,resourceclaims,resourceclaimtemplates,pods -A -o yaml";
