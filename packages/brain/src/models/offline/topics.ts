import type { Language } from "@vidro/core/text";
import type { Want } from "./want.ts";

/** The words of one topic: one `strong` word or phrase makes it the topic; `weak` words only go with it. */
export interface Topic {
  readonly strong: readonly string[];
  readonly weak: readonly string[];
}

const words = (text: string): readonly string[] =>
  text
    .split(/[,\n]\s*/)
    .map((word) => word.trim())
    .filter((word) => word !== "");
const topic = (strong: string, weak = ""): Topic => ({ strong: words(strong), weak: words(weak) });

/** The wants that are known by their topic alone, whatever else the sentence says. */
export type TopicKind = Exclude<Want["kind"], "largest" | "find" | "search" | "read" | "list" | "git" | "run">;

/** The vocabulary of a topic in each language; English words count in every language, since machines speak English. */
export const TOPICS: readonly ({ readonly kind: TopicKind } & { readonly [L in Language]: Topic })[] = [
  {
    kind: "disk",
    en: topic(
      "disk, disks, storage, filesystem, filesystems, df, free space, disk space, hard drive, hard drives, drive, partition, partitions, ssd, hdd, space left",
      "space, free, full, usage, capacity, available, room, left, size, remaining",
    ),
    pt: topic(
      "disco, discos, armazenamento, espaco livre, espaco em disco, particao, particoes, hd",
      "espaco, livre, livres, cheio, cheia, uso, ocupado, disponivel, sobra, sobrando, resta, restante, restam, capacidade, tamanho",
    ),
    es: topic(
      "disco, discos, almacenamiento, espacio libre, espacio en disco, particion, particiones",
      "espacio, libre, libres, lleno, llena, uso, ocupado, disponible, queda, quedan, sobra, restante, capacidad, tamano",
    ),
  },
  {
    kind: "memory",
    en: topic("memory, ram, swap", "free, usage, available, left, consumption, remaining, size"),
    pt: topic("memoria", "livre, uso, disponivel, sobra, sobrando, resta, restante, ocupada, consumo, tamanho"),
    es: topic("memoria", "libre, uso, disponible, queda, sobra, restante, ocupada, consumo, tamano"),
  },
  {
    kind: "cpu",
    en: topic(
      "cpu, cpus, processor, processors, cores, core, load, load average, how busy",
      "usage, busy, model, speed, average, count",
    ),
    pt: topic("processador, processadores, nucleos, carga", "uso, ocupada, modelo, velocidade, media, nucleo"),
    es: topic("procesador, procesadores, nucleos, carga", "uso, ocupada, modelo, velocidad, media, promedio, nucleo"),
  },
  {
    kind: "processes",
    en: topic(
      "process, processes, ps, eating, hogging, consuming, using the most, using most, uses the most, uses most, use the most, running programs, slowing down, top, htop",
      "top, programs, heaviest, heavy, sort, sorted, order, ordered, hungry, hungriest, resources, consume, consumption, usage, ten, five",
    ),
    pt: topic(
      "processo, processos, consumindo, gastando, usando mais, usa mais, consome mais, comendo",
      "programas, rodando, execucao, pesados, pesado, ordenados, ordem, recursos, consumo, consomem, principais, uso, consome, maior",
    ),
    es: topic(
      "proceso, procesos, consumiendo, gastando, usando mas, usa mas, consume mas, comiendo",
      "programas, corriendo, ejecucion, pesados, pesado, ordenados, orden, recursos, consumo, consumen, principales, uso, consume, mayor",
    ),
  },
  {
    kind: "uptime",
    en: topic(
      "uptime, been up, been running, been on, last reboot, last boot, last rebooted, last booted, booted, boot time, up since, last restart, boot, since when, start up",
      "long, since",
    ),
    pt: topic(
      "tempo ligado, tempo ligada, tempo de atividade, esta ligado, esta ligada, foi reiniciada, foi reiniciado, ultimo boot, ultima reinicializacao, tempo no ar",
      "tempo, desde",
    ),
    es: topic(
      "tiempo encendido, tiempo encendida, tiempo activo, tiempo de actividad, esta encendido, esta encendida, lleva encendido, lleva encendida, ultimo arranque, ultimo reinicio, lleva activo, lleva activa",
      "tiempo, desde, lleva",
    ),
  },
  {
    kind: "system",
    en: topic(
      "os, kernel, distro, distribution, operating system, uname, hostname, host name, os version, architecture, machine name, computer name, server name, which linux, what linux, version of linux, linux version, kind of linux",
      "version, release, installed",
    ),
    pt: topic(
      "qual o so, qual e o so, qual so, que so, versao do so, sistema operacional, distribuicao, arquitetura, nome da maquina, nome do computador, nome do servidor, nome do host, qual linux, versao do linux, versao de linux",
      "versao, instalado, instalada",
    ),
    es: topic(
      "sistema operativo, distribucion, arquitectura, nombre de la maquina, nombre del equipo, nombre del servidor, nombre del host, que linux, version de linux",
      "version, instalado, instalada",
    ),
  },
  {
    kind: "network",
    en: topic(
      "network, networks, interface, interfaces, ip, ips, ethernet, wifi, ip address, ip addresses, ifconfig",
      "address, addresses, card, cards, connected, mac",
    ),
    pt: topic(
      "rede, redes, interfaces de rede, endereco ip, enderecos ip, placa de rede",
      "endereco, enderecos, placa, placas",
    ),
    es: topic(
      "red, redes, interfaz, direccion ip, direcciones ip, tarjeta de red",
      "direccion, direcciones, tarjeta, tarjetas",
    ),
  },
  {
    kind: "ports",
    en: topic(
      "port, ports, listening, listens, listen, listeners, listener, sockets, listened",
      "open, tcp, owns, holds, occupies, occupied, service, services, process, program, taken, busy, free, running, anything",
    ),
    pt: topic(
      "porta, portas, escutando, escuta, escutam, ouvindo",
      "aberta, abertas, tcp, ocupa, ocupada, ocupando, servico, servicos, processo, programa, rodando, livre, uso, executando",
    ),
    es: topic(
      "puerto, puertos, escuchando, escucha, escuchan",
      "abierto, abiertos, tcp, ocupa, ocupado, ocupando, servicio, servicios, proceso, programa, corriendo, libre, uso, ejecutando",
    ),
  },
  {
    kind: "tests",
    en: topic(
      "run tests, run the tests, run all tests, run all the tests, run my tests, run our tests, run the test suite, run the unit tests, execute the tests, tests pass, tests passing, run test, npm test",
      "suite, unit, project, repo",
    ),
    pt: topic(
      "rode os testes, roda os testes, rodar os testes, execute os testes, executa os testes, executar os testes, rode todos os testes, testes passam, testes passando, testes estao passando, rode testes",
      "projeto, suite, unitarios",
    ),
    es: topic(
      "ejecuta las pruebas, ejecuta los tests, ejecutar las pruebas, ejecutar los tests, corre las pruebas, corre los tests, lanza los tests, lanza las pruebas, pasan las pruebas, pasan los tests, tests pasan, pruebas pasan, ejecuta todas las pruebas",
      "proyecto, suite, unitarias, unitarios",
    ),
  },
  {
    kind: "date",
    en: topic(
      "what time, what day, date, the time, clock, timezone, time zone, what year, local time, current time",
      "time, day, zone",
    ),
    pt: topic("que horas, que dia, que hora, data, fuso horario, data e hora, que ano", "hora, horas, dia, relogio"),
    es: topic("que hora, que dia, fecha, zona horaria, fecha y hora, que ano", "hora, dia, reloj"),
  },
  {
    kind: "user",
    en: topic(
      "who am i, whoami, which user, what user, current user, my user, username, user name, user am i, my groups, user id, uid",
      "user, groups, running as, account",
    ),
    pt: topic(
      "quem sou eu, quem sou, qual usuario, que usuario, meu usuario, usuario atual, qual o usuario, qual e o usuario, nome de usuario, meus grupos",
      "usuario, grupos, conta",
    ),
    es: topic(
      "quien soy, quien soy yo, que usuario, mi usuario, usuario actual, cual es el usuario, nombre de usuario, mis grupos",
      "usuario, grupos, cuenta",
    ),
  },
  {
    kind: "sessions",
    en: topic(
      "logged in, logged on, who is logged, users, sessions, who is online, who is connected",
      "logged, connected, people",
    ),
    pt: topic(
      "usuarios, logado, logados, logada, sessoes, quem esta conectado, quem esta logado",
      "conectados, conectado, pessoas",
    ),
    es: topic(
      "usuarios, sesiones, sesion iniciada, ha iniciado sesion, quien esta conectado, quienes estan conectados",
      "conectados, conectado, personas, iniciado, sesion",
    ),
  },
  {
    kind: "folder",
    en: topic(
      "pwd, cwd, working directory, current directory, current folder, working folder, which folder, which directory, what folder, what directory, where am i, where are we",
      "folder, directory, path",
    ),
    pt: topic(
      "diretorio atual, pasta atual, em que pasta, em qual pasta, qual pasta, que pasta, onde estou, onde estamos, diretorio de trabalho, pasta de trabalho, em que diretorio, qual diretorio, qual o diretorio",
      "pasta, diretorio, caminho",
    ),
    es: topic(
      "directorio actual, carpeta actual, en que carpeta, en cual carpeta, que carpeta, donde estoy, donde estamos, directorio de trabajo, carpeta de trabajo, en que directorio, que directorio",
      "carpeta, directorio, ruta",
    ),
  },
  {
    kind: "self",
    en: topic(
      "who are you, what are you, what can you do, what do you do, help, hello, hi, hey, good morning, how can you help, what do you know, your name, are you a language model, are you an ai",
      "there, model, ai, language, capabilities",
    ),
    pt: topic(
      "quem e voce, o que e voce, o que voce e, o que voce faz, o que voce pode fazer, o que voce sabe fazer, o que voce sabe, ajuda, oi, ola, bom dia, boa tarde, boa noite, seu nome, voce e uma ia, o que voce consegue fazer, o que voce consegue",
      "modelo, ia, linguagem",
    ),
    es: topic(
      "quien eres, que eres, que haces, que puedes hacer, que sabes hacer, que sabes, ayuda, hola, buenos dias, buenas tardes, buenas noches, tu nombre, eres una ia",
      "modelo, ia, lenguaje",
    ),
  },
];

/**
 * A topic that covers others: "which processes use most memory" is about processes and not about memory as well.
 */
export const COVERS: Partial<Record<TopicKind, readonly TopicKind[]>> = {
  ports: ["processes", "network", "sessions"],
  processes: ["cpu", "memory", "disk"],
  uptime: ["date", "system"],
  sessions: ["user", "network"],
  network: ["system"],
};
