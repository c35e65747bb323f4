//! What the process runs in: container, pod, deployment, and whatever else its environment declares.
//!
//! These are attributes of the process's *resource*, in the words of OpenTelemetry, by the names of
//! its semantic conventions. They are read once and stand in the ring once; each row has them as
//! properties `otel.resource.KEY`, as a span has those of its resource.
//!
//! 1. `OTEL_RESOURCE_ATTRIBUTES` declares any: `k8s.pod.name=p-1,k8s.deployment.name=shop`.
//!    Kubernetes fills in names of the pod (`docs/install.md`, "Kubernetes").
//! 2. `container.id` from the control group, or from where the runtime has mounted the container's
//!    `/etc/hostname`. In a pod that mount is the sandbox's and tells nothing.
//! 3. `k8s.pod.uid` and `k8s.container.name` from the files that the kubelet mounts into each
//!    container, `k8s.namespace.name` from the service account's.
//!
//! What is declared is not looked for. The host's name is a field of each row, and none of these.

use crate::env;
use crate::say::{self, Topic};
use chronoscope_model::PROCESS_CONTEXT_MAX_BYTES;
use chronoscope_model::attribute::RESOURCE;
use chronoscope_model::context::{self, ContextEntry};
use std::fs;
use std::sync::OnceLock;

/// Characters of a container's id.
const CONTAINER_ID_LEN: usize = 64;
/// Where a pod's service account says its namespace.
const NAMESPACE_FILE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/// An attribute: key and value.
type Attribute = (String, String);

/// The attributes as the context of the process; empty where there are none. A forked child has its
/// parent's.
pub(crate) fn context() -> &'static [u8] {
    static CONTEXT: OnceLock<Vec<u8>> = OnceLock::new();
    CONTEXT.get_or_init(|| {
        if env::is_resource_off() {
            return Vec::new();
        }
        let declared = env::resource_attributes().map(|text| declared(&text));
        let mut all = declared.unwrap_or_else(|| Some(Vec::new())).unwrap_or_else(|| {
            say::once(
                Topic::Resource,
                "OTEL_RESOURCE_ATTRIBUTES is ignored: KEY=VALUE,KEY=VALUE is expected, with other \
                 characters than letters, digits and -._~/ as %XX",
            );
            Vec::new()
        });
        for (key, value) in found(&Surroundings::read()) {
            if !all.iter().any(|(known, _)| known == key) {
                all.push((key.to_owned(), value));
            }
        }
        encoded(&all)
    })
}

/// Reads the variable as OpenTelemetry's specification of resources says: a list as in W3C Baggage,
/// whose keys and values are percent-encoded. `None` where a part is none of it: then all is
/// ignored, because nobody knows what was meant.
fn declared(text: &str) -> Option<Vec<Attribute>> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let attribute = |part: &str| {
        let (key, value) = part.split_once('=')?;
        let (key, value) = (decoded(key.trim())?, decoded(value.trim())?);
        (!key.is_empty()).then_some((key, value))
    };
    let mut all: Vec<Attribute> = Vec::new();
    for part in parts {
        let (key, value) = attribute(part)?;
        // A later one replaces an earlier one.
        all.retain(|(known, _)| *known != key);
        all.push((key, value));
    }
    Some(all)
}

/// A text without its percent-encoding; `None` where it is not one.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        let (high, low) = (digit(rest.next())?, digit(rest.next())?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

/// The files in which a process sees what it runs in.
#[derive(Debug, Default)]
struct Surroundings {
    /// `/proc/self/cgroup`.
    groups: String,
    /// `/proc/self/mountinfo`.
    mounts: String,
    /// [`NAMESPACE_FILE`].
    namespace: String,
    /// Whether Kubernetes has started the process.
    is_pod: bool,
}

impl Surroundings {
    fn read() -> Self {
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        Self {
            groups: text("/proc/self/cgroup"),
            mounts: text("/proc/self/mountinfo"),
            namespace: text(NAMESPACE_FILE),
            is_pod: env::is_in_pod(),
        }
    }
}

/// The attributes that show in these files.
fn found(surroundings: &Surroundings) -> Vec<(&'static str, String)> {
    let Surroundings { groups, mounts, namespace, is_pod } = surroundings;
    let pod = mounted(mounts, "/etc/hosts").and_then(|root| after(root, "/pods/"));
    let of_container = mounted(mounts, "/dev/termination-log");
    let name = of_container
        .filter(|root| root.contains("/pods/"))
        .and_then(|root| after(root, "/containers/"));
    let is_pod = *is_pod || pod.is_some();
    let own_id = mounted(mounts, "/etc/hostname").filter(|_| !is_pod).and_then(id_in);
    let id = groups.lines().find_map(|line| id_in(line.rsplit(':').next()?)).or(own_id);
    let namespace = Some(namespace.trim()).filter(|name| !name.is_empty());
    let all = [
        ("container.id", id),
        ("k8s.namespace.name", namespace),
        ("k8s.pod.uid", pod),
        ("k8s.container.name", name),
    ];
    all.into_iter().filter_map(|(key, value)| Some((key, value?.to_owned()))).collect()
}

/// The path within its file system of what is mounted at `point` (proc(5), `mountinfo`, fields 4
/// and 5).
fn mounted<'a>(mounts: &'a str, point: &str) -> Option<&'a str> {
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(3);
        let root = fields.next()?;
        (fields.next()? == point).then_some(root)
    })
}

/// The part of a path after `marker`, up to the next slash.
fn after<'a>(path: &'a str, marker: &str) -> Option<&'a str> {
    let (_, rest) = path.split_once(marker)?;
    rest.split('/').next().filter(|part| !part.is_empty())
}

/// The last container's id in a path: `docker-ID.scope`, `libpod-ID.scope/container`, `ID`.
fn id_in(path: &str) -> Option<&str> {
    path.rsplit('/').find_map(|part| {
        let part = part.strip_suffix(".scope").unwrap_or(part);
        let id = part.rsplit(['-', ':']).next()?;
        let is_id = id.len() == CONTAINER_ID_LEN && id.bytes().all(|b| b.is_ascii_hexdigit());
        // The program of the runtime that watches a container is not in it.
        (is_id && !part.contains("conmon")).then_some(id)
    })
}

/// The attributes as entries of a context; what does not fit is left out, and said.
fn encoded(all: &[Attribute]) -> Vec<u8> {
    let mut bytes = vec![0; PROCESS_CONTEXT_MAX_BYTES];
    let (mut len, mut left_out) = (0, 0);
    for (key, value) in all {
        let key = format!("{RESOURCE}{key}");
        match context::append(&mut bytes, len, ContextEntry::Property(&key, value)) {
            Some(end) => len = end,
            None => left_out += 1,
        }
    }
    if left_out > 0 {
        let text = format!(
            "{left_out} attributes of OTEL_RESOURCE_ATTRIBUTES are left out: {} bytes have room \
             for all, and 255 for a key",
            PROCESS_CONTEXT_MAX_BYTES
        );
        say::once(Topic::Resource, &text);
    }
    bytes.truncate(len);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    const UID: &str = "4c2ba7bb-91c5-4c0f-9e33-6d9a3c1e4a55";

    fn of(groups: &str, mounts: &str, is_pod: bool) -> Vec<(&'static str, String)> {
        let (groups, mounts) = (groups.replace("ID", ID), mounts.replace("ID", ID));
        let mounts = mounts.replace("UID", UID);
        found(&Surroundings { groups, mounts, namespace: String::new(), is_pod })
    }

    #[test]
    fn declared_attributes_are_decoded_and_the_last_of_a_key_counts() {
        let text = "k8s.pod.name=shop-1, k8s.namespace.name = a%2Cb ,,x=1,k8s.pod.name=shop-2,e=";
        let all = declared(text).unwrap();
        let expected =
            [("k8s.namespace.name", "a,b"), ("x", "1"), ("k8s.pod.name", "shop-2"), ("e", "")];
        assert_eq!(all, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
        for wrong in ["no value", "=1", "a=%2", "a=%zz", "a=1,b", "a=%ff"] {
            assert_eq!(declared(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_container_shows_in_its_control_group() {
        for groups in [
            "0::/system.slice/docker-ID.scope\n",
            "12:pids:/docker/ID\n1:name=systemd:/docker/ID\n0::/\n",
            "0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-ID.scope/container\n",
            "0::/kubepods.slice/kubepods-pod12.slice/cri-containerd-ID.scope\n",
            "9:cpu:/kubepods/besteffort/pod12/ID\n",
            "0::/system.slice/containerd.service/kubepods-burstable-pod12.slice:cri-containerd:ID\n",
        ] {
            assert_eq!(of(groups, "", false), [("container.id", ID.to_owned())], "{groups}");
        }
        for none in ["0::/\n", "", "0::/init.scope\n", "4:memory:/libpod-conmon-ID.scope\n"] {
            assert_eq!(of(none, "", false), [], "{none}");
        }
    }

    #[test]
    fn a_container_with_a_control_group_of_its_own_shows_in_its_mounts() {
        for root in [
            "/var/lib/docker/containers/ID/hostname",
            "/lib/containers/storage/overlay-containers/ID/userdata/hostname",
        ] {
            let mounts = format!(
                "30 25 0:21 / /proc rw - proc proc rw\n31 25 254:0 {root} /etc/hostname rw - ext4 x rw\n"
            );
            assert_eq!(of("0::/\n", &mounts, false), [("container.id", ID.to_owned())], "{root}");
            // There it would be the id of the pod's sandbox.
            assert_eq!(of("0::/\n", &mounts, true), [], "{root}");
        }
    }

    #[test]
    fn a_pod_shows_in_what_the_kubelet_mounts() {
        let mounts = "\
            1 2 8:1 /var/lib/kubelet/pods/UID/etc-hosts /etc/hosts rw - ext4 x rw\n\
            2 2 8:1 /var/lib/kubelet/pods/UID/containers/shop/6b1f /dev/termination-log rw - ext4 x rw\n\
            3 2 8:1 /io.containerd.grpc.v1.cri/sandboxes/ID/hostname /etc/hostname rw - ext4 x rw\n";
        let all = found(&Surroundings {
            groups: "0::/\n".to_owned(),
            mounts: mounts.replace("UID", UID).replace("/ID/", &format!("/{ID}/")),
            namespace: "trade\n".to_owned(),
            is_pod: false,
        });
        let expected =
            [("k8s.namespace.name", "trade"), ("k8s.pod.uid", UID), ("k8s.container.name", "shop")];
        assert_eq!(all, expected.map(|(key, value)| (key, value.to_owned())));
    }

    #[test]
    fn what_does_not_fit_is_left_out_and_the_rest_stays() {
        let long = ("k".repeat(250), "v".to_owned());
        let large = ("large".to_owned(), "v".repeat(PROCESS_CONTEXT_MAX_BYTES));
        let small = ("small".to_owned(), "v".to_owned());
        let bytes = encoded(&[long, large, small]);
        let all: Vec<_> = context::entries(&bytes).collect();
        assert_eq!(all, [ContextEntry::Property("otel.resource.small", "v")]);
    }
}
