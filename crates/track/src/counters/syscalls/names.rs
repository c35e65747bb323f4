//! Names of system calls by their numbers, which differ between processors.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;

/// The name of a system call; `syscall 499` for one that is newer than these lists.
pub(super) fn name(number: u64) -> Cow<'static, str> {
    static NAMES: OnceLock<HashMap<u64, &'static str>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let all = EVERYWHERE.iter().chain(HERE);
        all.map(|(number, name)| (number.cast_unsigned(), *name)).collect()
    });
    match names.get(&number) {
        Some(name) => Cow::Borrowed(name),
        None => Cow::Owned(format!("syscall {number}")),
    }
}

/// A list of `(number, name)`.
type Known = &'static [(libc::c_long, &'static str)];

#[cfg(not(target_arch = "x86_64"))]
const HERE: Known = &[];

/// Calls that newer architectures lack.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const HERE: Known = &[
    (libc::SYS_open, "open"), (libc::SYS_stat, "stat"), (libc::SYS_lstat, "lstat"),
    (libc::SYS_poll, "poll"), (libc::SYS_access, "access"), (libc::SYS_pipe, "pipe"),
    (libc::SYS_select, "select"), (libc::SYS_dup2, "dup2"), (libc::SYS_pause, "pause"),
    (libc::SYS_alarm, "alarm"), (libc::SYS_fork, "fork"), (libc::SYS_vfork, "vfork"),
    (libc::SYS_getdents, "getdents"), (libc::SYS_rename, "rename"), (libc::SYS_mkdir, "mkdir"),
    (libc::SYS_rmdir, "rmdir"), (libc::SYS_creat, "creat"), (libc::SYS_link, "link"),
    (libc::SYS_unlink, "unlink"), (libc::SYS_symlink, "symlink"), (libc::SYS_readlink, "readlink"),
    (libc::SYS_chmod, "chmod"), (libc::SYS_chown, "chown"), (libc::SYS_lchown, "lchown"),
    (libc::SYS_getrlimit, "getrlimit"), (libc::SYS_getpgrp, "getpgrp"), (libc::SYS_utime, "utime"),
    (libc::SYS_mknod, "mknod"), (libc::SYS_uselib, "uselib"), (libc::SYS_ustat, "ustat"),
    (libc::SYS_sysfs, "sysfs"), (libc::SYS_modify_ldt, "modify_ldt"),
    (libc::SYS__sysctl, "_sysctl"), (libc::SYS_arch_prctl, "arch_prctl"),
    (libc::SYS_setrlimit, "setrlimit"), (libc::SYS_iopl, "iopl"), (libc::SYS_ioperm, "ioperm"),
    (libc::SYS_getpmsg, "getpmsg"), (libc::SYS_putpmsg, "putpmsg"),
    (libc::SYS_afs_syscall, "afs_syscall"), (libc::SYS_tuxcall, "tuxcall"),
    (libc::SYS_security, "security"), (libc::SYS_time, "time"),
    (libc::SYS_set_thread_area, "set_thread_area"), (libc::SYS_get_thread_area, "get_thread_area"),
    (libc::SYS_epoll_create, "epoll_create"), (libc::SYS_epoll_ctl_old, "epoll_ctl_old"),
    (libc::SYS_epoll_wait_old, "epoll_wait_old"), (libc::SYS_epoll_wait, "epoll_wait"),
    (libc::SYS_utimes, "utimes"), (libc::SYS_vserver, "vserver"),
    (libc::SYS_inotify_init, "inotify_init"), (libc::SYS_futimesat, "futimesat"),
    (libc::SYS_renameat, "renameat"), (libc::SYS_sync_file_range, "sync_file_range"),
    (libc::SYS_signalfd, "signalfd"), (libc::SYS_eventfd, "eventfd"),
    (libc::SYS_fchmodat2, "fchmodat2"),
];

#[rustfmt::skip]
const EVERYWHERE: Known = &[
    (libc::SYS_read, "read"), (libc::SYS_write, "write"), (libc::SYS_close, "close"),
    (libc::SYS_fstat, "fstat"), (libc::SYS_lseek, "lseek"), (libc::SYS_mmap, "mmap"),
    (libc::SYS_mprotect, "mprotect"), (libc::SYS_munmap, "munmap"), (libc::SYS_brk, "brk"),
    (libc::SYS_rt_sigaction, "rt_sigaction"), (libc::SYS_rt_sigprocmask, "rt_sigprocmask"),
    (libc::SYS_rt_sigreturn, "rt_sigreturn"), (libc::SYS_ioctl, "ioctl"),
    (libc::SYS_pread64, "pread64"), (libc::SYS_pwrite64, "pwrite64"), (libc::SYS_readv, "readv"),
    (libc::SYS_writev, "writev"), (libc::SYS_sched_yield, "sched_yield"),
    (libc::SYS_mremap, "mremap"), (libc::SYS_msync, "msync"), (libc::SYS_mincore, "mincore"),
    (libc::SYS_madvise, "madvise"), (libc::SYS_shmget, "shmget"), (libc::SYS_shmat, "shmat"),
    (libc::SYS_shmctl, "shmctl"), (libc::SYS_dup, "dup"), (libc::SYS_nanosleep, "nanosleep"),
    (libc::SYS_getitimer, "getitimer"), (libc::SYS_setitimer, "setitimer"),
    (libc::SYS_getpid, "getpid"), (libc::SYS_sendfile, "sendfile"), (libc::SYS_socket, "socket"),
    (libc::SYS_connect, "connect"), (libc::SYS_accept, "accept"), (libc::SYS_sendto, "sendto"),
    (libc::SYS_recvfrom, "recvfrom"), (libc::SYS_sendmsg, "sendmsg"),
    (libc::SYS_recvmsg, "recvmsg"), (libc::SYS_shutdown, "shutdown"), (libc::SYS_bind, "bind"),
    (libc::SYS_listen, "listen"), (libc::SYS_getsockname, "getsockname"),
    (libc::SYS_getpeername, "getpeername"), (libc::SYS_socketpair, "socketpair"),
    (libc::SYS_setsockopt, "setsockopt"), (libc::SYS_getsockopt, "getsockopt"),
    (libc::SYS_clone, "clone"), (libc::SYS_execve, "execve"), (libc::SYS_exit, "exit"),
    (libc::SYS_wait4, "wait4"), (libc::SYS_kill, "kill"), (libc::SYS_uname, "uname"),
    (libc::SYS_semget, "semget"), (libc::SYS_semop, "semop"), (libc::SYS_semctl, "semctl"),
    (libc::SYS_shmdt, "shmdt"), (libc::SYS_msgget, "msgget"), (libc::SYS_msgsnd, "msgsnd"),
    (libc::SYS_msgrcv, "msgrcv"), (libc::SYS_msgctl, "msgctl"), (libc::SYS_fcntl, "fcntl"),
    (libc::SYS_flock, "flock"), (libc::SYS_fsync, "fsync"), (libc::SYS_fdatasync, "fdatasync"),
    (libc::SYS_truncate, "truncate"), (libc::SYS_ftruncate, "ftruncate"),
    (libc::SYS_getcwd, "getcwd"), (libc::SYS_chdir, "chdir"), (libc::SYS_fchdir, "fchdir"),
    (libc::SYS_fchmod, "fchmod"), (libc::SYS_fchown, "fchown"), (libc::SYS_umask, "umask"),
    (libc::SYS_gettimeofday, "gettimeofday"), (libc::SYS_getrusage, "getrusage"),
    (libc::SYS_sysinfo, "sysinfo"), (libc::SYS_times, "times"), (libc::SYS_ptrace, "ptrace"),
    (libc::SYS_getuid, "getuid"), (libc::SYS_syslog, "syslog"), (libc::SYS_getgid, "getgid"),
    (libc::SYS_setuid, "setuid"), (libc::SYS_setgid, "setgid"), (libc::SYS_geteuid, "geteuid"),
    (libc::SYS_getegid, "getegid"), (libc::SYS_setpgid, "setpgid"), (libc::SYS_getppid, "getppid"),
    (libc::SYS_setsid, "setsid"), (libc::SYS_setreuid, "setreuid"),
    (libc::SYS_setregid, "setregid"), (libc::SYS_getgroups, "getgroups"),
    (libc::SYS_setgroups, "setgroups"), (libc::SYS_setresuid, "setresuid"),
    (libc::SYS_getresuid, "getresuid"), (libc::SYS_setresgid, "setresgid"),
    (libc::SYS_getresgid, "getresgid"), (libc::SYS_getpgid, "getpgid"),
    (libc::SYS_setfsuid, "setfsuid"), (libc::SYS_setfsgid, "setfsgid"),
    (libc::SYS_getsid, "getsid"), (libc::SYS_capget, "capget"), (libc::SYS_capset, "capset"),
    (libc::SYS_rt_sigpending, "rt_sigpending"), (libc::SYS_rt_sigtimedwait, "rt_sigtimedwait"),
    (libc::SYS_rt_sigqueueinfo, "rt_sigqueueinfo"), (libc::SYS_rt_sigsuspend, "rt_sigsuspend"),
    (libc::SYS_sigaltstack, "sigaltstack"), (libc::SYS_personality, "personality"),
    (libc::SYS_statfs, "statfs"), (libc::SYS_fstatfs, "fstatfs"),
    (libc::SYS_getpriority, "getpriority"), (libc::SYS_setpriority, "setpriority"),
    (libc::SYS_sched_setparam, "sched_setparam"), (libc::SYS_sched_getparam, "sched_getparam"),
    (libc::SYS_sched_setscheduler, "sched_setscheduler"),
    (libc::SYS_sched_getscheduler, "sched_getscheduler"),
    (libc::SYS_sched_get_priority_max, "sched_get_priority_max"),
    (libc::SYS_sched_get_priority_min, "sched_get_priority_min"),
    (libc::SYS_sched_rr_get_interval, "sched_rr_get_interval"), (libc::SYS_mlock, "mlock"),
    (libc::SYS_munlock, "munlock"), (libc::SYS_mlockall, "mlockall"),
    (libc::SYS_munlockall, "munlockall"), (libc::SYS_vhangup, "vhangup"),
    (libc::SYS_pivot_root, "pivot_root"), (libc::SYS_prctl, "prctl"),
    (libc::SYS_adjtimex, "adjtimex"), (libc::SYS_chroot, "chroot"), (libc::SYS_sync, "sync"),
    (libc::SYS_acct, "acct"), (libc::SYS_settimeofday, "settimeofday"), (libc::SYS_mount, "mount"),
    (libc::SYS_umount2, "umount2"), (libc::SYS_swapon, "swapon"), (libc::SYS_swapoff, "swapoff"),
    (libc::SYS_reboot, "reboot"), (libc::SYS_sethostname, "sethostname"),
    (libc::SYS_setdomainname, "setdomainname"), (libc::SYS_init_module, "init_module"),
    (libc::SYS_delete_module, "delete_module"), (libc::SYS_quotactl, "quotactl"),
    (libc::SYS_nfsservctl, "nfsservctl"), (libc::SYS_gettid, "gettid"),
    (libc::SYS_readahead, "readahead"), (libc::SYS_setxattr, "setxattr"),
    (libc::SYS_lsetxattr, "lsetxattr"), (libc::SYS_fsetxattr, "fsetxattr"),
    (libc::SYS_getxattr, "getxattr"), (libc::SYS_lgetxattr, "lgetxattr"),
    (libc::SYS_fgetxattr, "fgetxattr"), (libc::SYS_listxattr, "listxattr"),
    (libc::SYS_llistxattr, "llistxattr"), (libc::SYS_flistxattr, "flistxattr"),
    (libc::SYS_removexattr, "removexattr"), (libc::SYS_lremovexattr, "lremovexattr"),
    (libc::SYS_fremovexattr, "fremovexattr"), (libc::SYS_tkill, "tkill"),
    (libc::SYS_futex, "futex"), (libc::SYS_sched_setaffinity, "sched_setaffinity"),
    (libc::SYS_sched_getaffinity, "sched_getaffinity"), (libc::SYS_io_setup, "io_setup"),
    (libc::SYS_io_destroy, "io_destroy"), (libc::SYS_io_getevents, "io_getevents"),
    (libc::SYS_io_submit, "io_submit"), (libc::SYS_io_cancel, "io_cancel"),
    (libc::SYS_lookup_dcookie, "lookup_dcookie"), (libc::SYS_remap_file_pages, "remap_file_pages"),
    (libc::SYS_getdents64, "getdents64"), (libc::SYS_set_tid_address, "set_tid_address"),
    (libc::SYS_restart_syscall, "restart_syscall"), (libc::SYS_semtimedop, "semtimedop"),
    (libc::SYS_fadvise64, "fadvise64"), (libc::SYS_timer_create, "timer_create"),
    (libc::SYS_timer_settime, "timer_settime"), (libc::SYS_timer_gettime, "timer_gettime"),
    (libc::SYS_timer_getoverrun, "timer_getoverrun"), (libc::SYS_timer_delete, "timer_delete"),
    (libc::SYS_clock_settime, "clock_settime"), (libc::SYS_clock_gettime, "clock_gettime"),
    (libc::SYS_clock_getres, "clock_getres"), (libc::SYS_clock_nanosleep, "clock_nanosleep"),
    (libc::SYS_exit_group, "exit_group"), (libc::SYS_epoll_ctl, "epoll_ctl"),
    (libc::SYS_tgkill, "tgkill"), (libc::SYS_mbind, "mbind"),
    (libc::SYS_set_mempolicy, "set_mempolicy"), (libc::SYS_get_mempolicy, "get_mempolicy"),
    (libc::SYS_mq_open, "mq_open"), (libc::SYS_mq_unlink, "mq_unlink"),
    (libc::SYS_mq_timedsend, "mq_timedsend"), (libc::SYS_mq_timedreceive, "mq_timedreceive"),
    (libc::SYS_mq_notify, "mq_notify"), (libc::SYS_mq_getsetattr, "mq_getsetattr"),
    (libc::SYS_kexec_load, "kexec_load"), (libc::SYS_waitid, "waitid"),
    (libc::SYS_add_key, "add_key"), (libc::SYS_request_key, "request_key"),
    (libc::SYS_keyctl, "keyctl"), (libc::SYS_ioprio_set, "ioprio_set"),
    (libc::SYS_ioprio_get, "ioprio_get"), (libc::SYS_inotify_add_watch, "inotify_add_watch"),
    (libc::SYS_inotify_rm_watch, "inotify_rm_watch"), (libc::SYS_migrate_pages, "migrate_pages"),
    (libc::SYS_openat, "openat"), (libc::SYS_mkdirat, "mkdirat"), (libc::SYS_mknodat, "mknodat"),
    (libc::SYS_fchownat, "fchownat"), (libc::SYS_newfstatat, "newfstatat"),
    (libc::SYS_unlinkat, "unlinkat"), (libc::SYS_linkat, "linkat"),
    (libc::SYS_symlinkat, "symlinkat"), (libc::SYS_readlinkat, "readlinkat"),
    (libc::SYS_fchmodat, "fchmodat"), (libc::SYS_faccessat, "faccessat"),
    (libc::SYS_pselect6, "pselect6"), (libc::SYS_ppoll, "ppoll"), (libc::SYS_unshare, "unshare"),
    (libc::SYS_set_robust_list, "set_robust_list"), (libc::SYS_get_robust_list, "get_robust_list"),
    (libc::SYS_splice, "splice"), (libc::SYS_tee, "tee"), (libc::SYS_vmsplice, "vmsplice"),
    (libc::SYS_move_pages, "move_pages"), (libc::SYS_utimensat, "utimensat"),
    (libc::SYS_epoll_pwait, "epoll_pwait"), (libc::SYS_timerfd_create, "timerfd_create"),
    (libc::SYS_fallocate, "fallocate"), (libc::SYS_timerfd_settime, "timerfd_settime"),
    (libc::SYS_timerfd_gettime, "timerfd_gettime"), (libc::SYS_accept4, "accept4"),
    (libc::SYS_signalfd4, "signalfd4"), (libc::SYS_eventfd2, "eventfd2"),
    (libc::SYS_epoll_create1, "epoll_create1"), (libc::SYS_dup3, "dup3"),
    (libc::SYS_pipe2, "pipe2"), (libc::SYS_inotify_init1, "inotify_init1"),
    (libc::SYS_preadv, "preadv"), (libc::SYS_pwritev, "pwritev"),
    (libc::SYS_rt_tgsigqueueinfo, "rt_tgsigqueueinfo"),
    (libc::SYS_perf_event_open, "perf_event_open"), (libc::SYS_recvmmsg, "recvmmsg"),
    (libc::SYS_fanotify_init, "fanotify_init"), (libc::SYS_fanotify_mark, "fanotify_mark"),
    (libc::SYS_prlimit64, "prlimit64"), (libc::SYS_name_to_handle_at, "name_to_handle_at"),
    (libc::SYS_open_by_handle_at, "open_by_handle_at"), (libc::SYS_clock_adjtime, "clock_adjtime"),
    (libc::SYS_syncfs, "syncfs"), (libc::SYS_sendmmsg, "sendmmsg"), (libc::SYS_setns, "setns"),
    (libc::SYS_getcpu, "getcpu"), (libc::SYS_process_vm_readv, "process_vm_readv"),
    (libc::SYS_process_vm_writev, "process_vm_writev"), (libc::SYS_kcmp, "kcmp"),
    (libc::SYS_finit_module, "finit_module"), (libc::SYS_sched_setattr, "sched_setattr"),
    (libc::SYS_sched_getattr, "sched_getattr"), (libc::SYS_renameat2, "renameat2"),
    (libc::SYS_seccomp, "seccomp"), (libc::SYS_getrandom, "getrandom"),
    (libc::SYS_memfd_create, "memfd_create"), (libc::SYS_kexec_file_load, "kexec_file_load"),
    (libc::SYS_bpf, "bpf"), (libc::SYS_execveat, "execveat"),
    (libc::SYS_userfaultfd, "userfaultfd"), (libc::SYS_membarrier, "membarrier"),
    (libc::SYS_mlock2, "mlock2"), (libc::SYS_copy_file_range, "copy_file_range"),
    (libc::SYS_preadv2, "preadv2"), (libc::SYS_pwritev2, "pwritev2"),
    (libc::SYS_pkey_mprotect, "pkey_mprotect"), (libc::SYS_pkey_alloc, "pkey_alloc"),
    (libc::SYS_pkey_free, "pkey_free"), (libc::SYS_statx, "statx"), (libc::SYS_rseq, "rseq"),
    (libc::SYS_pidfd_send_signal, "pidfd_send_signal"),
    (libc::SYS_io_uring_setup, "io_uring_setup"), (libc::SYS_io_uring_enter, "io_uring_enter"),
    (libc::SYS_io_uring_register, "io_uring_register"), (libc::SYS_open_tree, "open_tree"),
    (libc::SYS_move_mount, "move_mount"), (libc::SYS_fsopen, "fsopen"),
    (libc::SYS_fsconfig, "fsconfig"), (libc::SYS_fsmount, "fsmount"), (libc::SYS_fspick, "fspick"),
    (libc::SYS_pidfd_open, "pidfd_open"), (libc::SYS_clone3, "clone3"),
    (libc::SYS_close_range, "close_range"), (libc::SYS_openat2, "openat2"),
    (libc::SYS_pidfd_getfd, "pidfd_getfd"), (libc::SYS_faccessat2, "faccessat2"),
    (libc::SYS_process_madvise, "process_madvise"), (libc::SYS_epoll_pwait2, "epoll_pwait2"),
    (libc::SYS_mount_setattr, "mount_setattr"), (libc::SYS_quotactl_fd, "quotactl_fd"),
    (libc::SYS_landlock_create_ruleset, "landlock_create_ruleset"),
    (libc::SYS_landlock_add_rule, "landlock_add_rule"),
    (libc::SYS_landlock_restrict_self, "landlock_restrict_self"),
    (libc::SYS_memfd_secret, "memfd_secret"), (libc::SYS_process_mrelease, "process_mrelease"),
    (libc::SYS_futex_waitv, "futex_waitv"),
    (libc::SYS_set_mempolicy_home_node, "set_mempolicy_home_node"), (libc::SYS_mseal, "mseal"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_names_and_unknown_ones_stay_numbers() {
        let read = libc::SYS_read.cast_unsigned();
        assert_eq!((name(read), name(77_777)), ("read".into(), "syscall 77777".into()));
        let mut numbers: Vec<_> = EVERYWHERE.iter().chain(HERE).map(|(number, _)| number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), EVERYWHERE.len() + HERE.len());
    }
}
