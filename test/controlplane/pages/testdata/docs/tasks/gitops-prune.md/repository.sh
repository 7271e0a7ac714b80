# Makes the directory a repository with a remote branch main, and a commit on a branch of
# its own that removes the manifest of a CronJob.
set -eu
[ ! -e .git ] # it must not be a repository that somebody has
commit() { git -c user.name=ann -c user.email=ann@example.com commit -q -m "$1"; }
git init -q -b change --template=
mkdir manifests
cp "$STAGE/report.yaml" manifests/
git add manifests
commit 'a report'
git update-ref refs/remotes/origin/main HEAD
git rm -q manifests/report.yaml
commit 'no report'
