import { HAND_LIMITS } from "@vidro/core";
import { ENTER_SCREEN } from "./sandbox/process-screen.ts";

/*
 * What a launcher runs. It reads orders on its input, each a length, a line break and words between NULs:
 *   start <id> <program> <number of words> <words> <arguments of enter_screen, or empty ones and a folder> <environment>
 *   opened <id>: this process has the pipes of the output
 *   signal <id> <signal>: to the whole group
 * It reports lines on its output:
 *   ready <descriptor>, started <id> <pid> <descriptors of stdout and stderr>, failed <id> <errno> <reason>,
 *   ended <id> <wait status>
 * A program has begun exactly when `started` is reported: the pipe for a failure is closed by a successful execution.
 * The input ends with this process: the launcher then kills what it has started, so that none outlives the hand.
 */

/** The number of the system call pidfd_open, the same on all processors. */
const PIDFD_OPEN = 434;

/** The request of fcntl that sets the size of a pipe: one that holds more is waited for less often on a busy host. */
const SET_PIPE_SIZE = 1031;

/** The exit code of a process that could not execute its program; its failure is reported otherwise. */
const NOT_EXECUTED = 127;

/** The perl script of a launcher. */
export const LAUNCHER_SCRIPT = `
  use strict;
  use POSIX ();
  ${ENTER_SCREEN}
  # Descriptors beyond this one are closed on exec.
  $^F = 2;
  my (%commands, %starting, %running);
  my ($orders, $watched) = ("", "");
  open my $nothing, "<", "/dev/null" or exit 1;
  vec($watched, 0, 1) = 1;

  sub report { syswrite STDOUT, join(" ", @_) . "\\n" }

  sub execute {
    my ($of, $status, $out, $err) = @_;
    my ($program, $argv, $place, $env) = @$of;
    POSIX::setsid();
    POSIX::dup2(fileno $nothing, 0);
    POSIX::dup2(fileno $out, 1);
    POSIX::dup2(fileno $err, 2);
    %ENV = @$env;
    eval {
      if ($$place[0] ne "") { enter_screen(@$place) }
      else { chdir $$place[2] or die "$!\\n" }
      exec { $program } @$argv or die "$!\\n";
    };
    my $errno = $! + 0;
    syswrite $status, "$errno $@";
    POSIX::_exit(${NOT_EXECUTED});
  }

  sub start {
    my ($id, $program, $count, @rest) = @_;
    my @argv = splice @rest, 0, $count;
    my @place = splice @rest, 0, 5;
    pipe my $stdout, my $out and pipe my $stderr, my $err and pipe my $failure, my $status
      or return report("failed", $id, $! + 0, $!);
    fcntl $_, ${SET_PIPE_SIZE}, ${HAND_LIMITS.outputPipeBytes} for $out, $err;
    my $pid = fork;
    defined $pid or return report("failed", $id, $! + 0, $!);
    execute([$program, \\@argv, \\@place, \\@rest], $status, $out, $err) if $pid == 0;
    my $ended = syscall ${PIDFD_OPEN}, $pid + 0, 0;
    $commands{$id} = { id => $id, pid => $pid, failure => $failure, pipes => [$stdout, $stderr], ended => $ended };
    $starting{fileno $failure} = $running{$ended} = $commands{$id};
    vec($watched, $_, 1) = 1 for fileno $failure, $ended;
  }

  sub take_start {
    my ($of) = @_;
    my $failure = delete $$of{failure} or return;
    delete $starting{fileno $failure};
    vec($watched, fileno $failure, 1) = 0;
    sysread $failure, my $why, 4096;
    chomp $why;
    $$of{failed} = $why ne "";
    report($$of{failed} ? ("failed", $$of{id}, $why) : ("started", @$of{"id", "pid"}, map { fileno $_ } @{$$of{pipes}}));
  }

  sub take_end {
    my ($of) = @_;
    # Its start is reported before its end.
    take_start($of);
    delete $running{$$of{ended}};
    vec($watched, $$of{ended}, 1) = 0;
    POSIX::close($$of{ended});
    waitpid $$of{pid}, 0;
    $$of{pid} = 0;
    report("ended", $$of{id}, $?) unless $$of{failed};
    # The pipes stay until they were opened by the other side.
    delete $commands{$$of{id}} if $$of{failed} || !$$of{pipes};
  }

  sub signal_group {
    my ($of, $signal) = @_;
    kill($signal, -$$of{pid}) || kill($signal, $$of{pid}) if $of && $$of{pid};
  }

  my %verbs = (
    start => \\&start,
    opened => sub {
      my $of = $commands{$_[0]} or return;
      delete $$of{pipes};
      delete $commands{$_[0]} unless $$of{pid};
    },
    signal => sub { signal_group($commands{$_[0]}, $_[1]) },
  );

  my $probe = syscall ${PIDFD_OPEN}, $$ + 0, 0;
  exit 1 if $probe < 0;
  POSIX::close($probe);
  report("ready", fileno $nothing);
  while (1) {
    my $found = select my $ready = $watched, undef, undef, undef;
    next if $found < 0;
    take_start($_) for map { $starting{$_} } grep { vec $ready, $_, 1 } keys %starting;
    take_end($_) for map { $running{$_} } grep { vec $ready, $_, 1 } keys %running;
    next unless vec $ready, 0, 1;
    last unless sysread STDIN, $orders, 65536, length $orders;
    while ($orders =~ /^(\\d+)\\n/ && length $orders >= $+[0] + $1) {
      my ($verb, @words) = split /\\0/, substr($orders, $+[0], $1), -1;
      substr($orders, 0, $+[0] + $1) = "";
      $verbs{$verb}->(@words);
    }
  }
  signal_group($_, "KILL") for values %running;
`;
