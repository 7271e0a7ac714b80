// What reads licences is no dependency of the program.
module github.com/kubectl-gc/kubectl-gc/hack/licences

go 1.26.0

require github.com/google/licensecheck v0.3.1
