import type { FaultWords } from "./fault-text.ts";

/** What the faults of the table say, and what to do next, in Spanish. */
export const FAULT_WORDS_ES: FaultWords = {
  BAD_REQUEST: ["La petición no está bien formada.", "Corrija lo que nombra el mensaje."],
  NOT_FOUND: ["Eso no existe aquí.", "Búsquelo en la lista: vidro runs list"],
  CONFLICT: ["Eso no encaja con lo que hay ahora.", "Léalo otra vez y repita la petición."],
  PAYLOAD_TOO_LARGE: ["La entrada pasa de su límite.", "Envíe menos, o por partes."],
  AUTH_REQUIRED: ["Hace falta un token.", "Envíelo: Authorization: Bearer <token>"],
  INVALID_TOKEN: ["El token no se conoce aquí, o ya no vale.", "Cree otro: vidro tokens create"],
  TOKEN_EXPIRED: ["El token ha caducado.", "Cree otro: vidro tokens create"],
  FORBIDDEN: ["El token no puede hacer eso.", "Use uno con el alcance que se nombra."],
  SIGNATURE_INVALID: [
    "El mensaje no está firmado como debe.",
    "Compruebe la clave de la mano, o invite otra vez a la máquina: vidro hands invite",
  ],
  CLOCK_SKEW: [
    "Los relojes de las dos máquinas están demasiado lejos uno de otro.",
    "Ponga en hora el reloj de la máquina; la respuesta trae el nuestro.",
  ],
  RATE_LIMITED: ["Se pide demasiado a la vez.", "Espere lo que dice la respuesta."],
  KEYS_UNAVAILABLE: [
    "Las claves que firman los tokens de las personas no se pueden leer.",
    "Compruebe la dirección del conjunto de claves.",
  ],
  METHOD_NOT_ALLOWED: ["Esta ruta no acepta ese método.", "Use uno de los que nombra Allow."],
  NOT_ACCEPTABLE: ["Ninguna forma de la respuesta le sirve al cliente.", "Acepte JSON."],
  UNSUPPORTED_MEDIA_TYPE: ["El cuerpo no es JSON.", "Envíe application/json en UTF-8."],
  MISDIRECTED: ["Este cerebro no responde a ese nombre de máquina.", "Nómbrelo en VIDRO_HOSTS."],
  SHUTTING_DOWN: ["El cerebro se está apagando.", "Inténtelo otra vez dentro de un momento."],
  BRAIN_UNREACHABLE: ["No se puede llegar al cerebro.", "Vea si está en marcha: vidro status; arránquelo: vidro up"],
  CONNECTION_LOST: ["Se perdió la conexión con el cerebro.", "La ejecución puede seguir en marcha: vidro attach"],
  INTERNAL_ERROR: ["El fallo es del propio Vidro.", "Informe del id de traza; el registro tiene lo demás."],
  MODEL_UNAVAILABLE: [
    "No se puede llegar al modelo.",
    "Inténtelo otra vez, compruebe su dirección (vidro doctor), o nombre un segundo modelo de reserva: VIDRO_MODEL=first,second",
  ],
  MODEL_TIMEOUT: ["El modelo no respondió a tiempo.", "Inténtelo otra vez, o elija otro: VIDRO_MODEL"],
  MODEL_CUT: ["La respuesta del modelo se interrumpió.", "Inténtelo otra vez, o elija otro: VIDRO_MODEL"],
  MODEL_RATE_LIMITED: ["El servidor del modelo pide ir más despacio.", "Espere, o elija otro: VIDRO_MODEL"],
  MODEL_RUBBISH: ["La respuesta del modelo no se puede entender.", "Inténtelo otra vez, o elija otro: VIDRO_MODEL"],
  ANSWER_UNFIT: [
    "La respuesta del modelo no tiene la forma pedida, tampoco cuando se pidió otra vez.",
    "Pida una forma más sencilla, o elija otro modelo: VIDRO_MODEL",
  ],
  MODEL_REFUSED: [
    "El servidor del modelo rechazó la petición.",
    "Compruebe el nombre y los ajustes del modelo (vidro doctor), o elija otro: VIDRO_MODEL",
  ],
  MODEL_KEY_MISSING: [
    "El proveedor del modelo quiere una clave, y no hay ninguna.",
    "Ponga la clave donde arranca el cerebro; un daemon en marcha lo sabe con vidro restart, o elija otro: VIDRO_MODEL",
  ],
  MODEL_KEY_REFUSED: [
    "El servidor del modelo rechazó la clave.",
    "Ponga otra vez la clave del proveedor; vidro config explain dice de dónde sale.",
  ],
  MODEL_UNPAID: [
    "La cuenta en el proveedor del modelo está sin crédito o sin cuota.",
    "Suba el límite en el proveedor, o elija otro: VIDRO_MODEL",
  ],
  MODEL_CONTEXT_FULL: [
    "La conversación es más larga de lo que el modelo puede leer, también después de acortarla.",
    "Dé una tarea más pequeña, o elija un modelo con una ventana mayor: VIDRO_MODEL",
  ],
  MODEL_TOOLLESS: [
    "El servidor del modelo no acepta herramientas.",
    "Arranque llama.cpp con --jinja o vLLM con --enable-auto-tool-choice, o elija otro: VIDRO_MODEL",
  ],
  MODEL_HISTORY_REFUSED: [
    "El servidor del modelo rechazó la conversación hasta aquí.",
    "Empiece la tarea de nuevo, o elija otro: VIDRO_MODEL",
  ],
  MODEL_WITHHELD: ["El modelo retuvo su respuesta.", "Diga la tarea con otras palabras, o elija otro: VIDRO_MODEL"],
  MODEL_UNPRICED: [
    "No se sabe cuánto cuesta el modelo, y así no se puede cumplir un límite de costes.",
    "Ponga VIDRO_MODEL_PRICE o model_facts, nombre otro modelo con --model, o limite los tokens: --max-tokens",
  ],
  MODEL_UNKNOWN: ["Ningún modelo responde a ese nombre.", "Vea qué puede ser VIDRO_MODEL: vidro doctor"],
  UNKNOWN_TOOL: ["Esa herramienta no existe en el conjunto.", "Use una de las herramientas de la lista."],
  BAD_ARGUMENTS: ["Los argumentos no sirven para la herramienta.", "Corrija lo que nombra el mensaje."],
  TOOL_FAILED: ["La herramienta no pudo hacerlo.", "Lea el mensaje y pruebe de otra manera."],
  POLICY_DENIED: ["La política de esta mano lo prohíbe.", "Vea por qué: vidro policy explain"],
  BAD_POLICY: [
    "El archivo de la política no se puede usar, y por eso nada se permite.",
    "Compruébelo: vidro policy check",
  ],
  APPROVAL_DENIED: ["Una persona dijo que no.", "Pídalo de otra manera, o déjelo."],
  APPROVAL_UNASKED: [
    "Necesita una aprobación, y no había a quién preguntar.",
    "Ejecútelo en una terminal y responda allí, o apruebe antes con --yes.",
  ],
  APPROVAL_EXPIRED: [
    "Ninguna respuesta llegó a tiempo, y eso cuenta como no.",
    "Pregunte otra vez cuando una persona pueda responder.",
  ],
  APPROVAL_INVALID: [
    "La aprobación no es del cerebro de esta mano para exactamente esta ejecución, acción y plan; no se ejecutó nada.",
    "Vea qué da órdenes a esta mano; un cerebro de una versión anterior hay que actualizarlo.",
  ],
  SECRET_IN_ACTION: [
    "La acción contiene un secreto, o la marca que está en su lugar, y no haría lo que parece.",
    "Nombre el secreto en vez de escribirlo: una variable de entorno, un archivo.",
  ],
  PLAN_CHANGED: ["Lo que se ejecutaría ya no es lo que se aprobó.", "Pida la aprobación otra vez."],
  ACTION_ID_REUSED: ["El id de la acción pertenece a otra acción.", "Use un id nuevo."],
  ACTION_EXPIRED: ["La acción llegó demasiado tarde y no se ejecutó.", "Decida otra vez con datos nuevos."],
  OUTCOME_UNKNOWN: [
    "La acción empezó y su resultado no se puede conocer.",
    "Mire en la máquina; nunca se repite por sí sola.",
  ],
  OUTCOME_EVICTED: [
    "La acción terminó hace mucho y su resultado ya no se guarda.",
    "Mire en la máquina; nunca se repite por sí sola.",
  ],
  STALE_EPOCH: ["Un cerebro anterior dio esta orden; uno más nuevo está al mando.", "Detenga el cerebro anterior."],
  LEDGER_UNWRITABLE: [
    "La mano no puede registrar lo que hace, y por eso no hace nada.",
    "Libere espacio en el disco de la máquina: df -h",
  ],
  LEDGER_DAMAGED: [
    "El libro de la mano está dañado, y por eso la mano no hace nada.",
    "Apártelo en la máquina: lo que estaba en marcha queda sin resultado conocido, y nada se ejecuta dos veces.",
  ],
  HAND_UNAVAILABLE: ["No se puede llegar a la mano.", "Arránquela otra vez; la acción sigue con el mismo id."],
  HAND_REVOKED: [
    "La mano fue revocada y ya no hace nada para este cerebro.",
    "Invite otra vez a la máquina: vidro hands invite",
  ],
  CERTIFICATE_INVALID: [
    "El certificado no es uno que este cerebro dio a una mano, o ya no vale.",
    "Invite otra vez a la máquina: vidro hands invite",
  ],
  HAND_QUARANTINED: [
    "La mano está en cuarentena y no recibe trabajo nuevo.",
    "Vea por qué: vidro hands show; libérela: vidro hands release",
  ],
  STORAGE_FULL: ["El disco del diario está lleno.", "Libere espacio en el disco y después: vidro attach --last"],
  STORE_BUSY: ["Otro proceso mantiene bloqueado el almacén.", "Repítalo cuando aquel haya terminado."],
  STORE_FAILED: ["El disco del diario da un error.", "Mire el disco: dmesg"],
  STORE_UNREACHABLE: [
    "No se puede llegar a la base de datos del almacén.",
    "Vea si está en marcha, y si su dirección en VIDRO_STORE es correcta.",
  ],
  COMMIT_UNKNOWN: [
    "El disco falló durante la escritura: no se sabe si esto quedó registrado.",
    "Mire si lo está, o repita la petición con el mismo Idempotency-Key.",
  ],
  STORE_UNREADABLE: ["El almacén no se puede abrir.", "Vea qué ocurre: vidro doctor"],
  STORE_NEWER: [
    "Un Vidro más nuevo escribió este almacén.",
    "Ejecute aquella versión, o apunte VIDRO_HOME a otro lugar.",
  ],
  STORE_RESTORED: [
    "El cerebro volvió de una copia de seguridad, y esta ejecución no siguió después de ella.",
    "Mire lo que ha hecho y empiécela de nuevo.",
  ],
  JOURNAL_CORRUPT: ["El diario de esta ejecución fue alterado o dañado.", "Vea dónde: vidro audit verify"],
  PORT_TAKEN: [
    "Otro programa escucha en ese puerto.",
    "Detenga ese programa, o elija otro puerto; el puerto 0 toma uno libre: vidro up --port 0",
  ],
  HOME_BUSY: ["Esta carpeta ya tiene un daemon.", "Vea cómo está: vidro status"],
  LEASE_LOST: ["Otro cerebro se hizo cargo de esta ejecución.", "Sígala: vidro attach"],
  RUN_BUSY: ["Otro proceso conduce esta ejecución.", "Espérelo, o detenga la ejecución allí."],
  LOOP_DETECTED: [
    "El modelo pidió lo mismo una y otra vez.",
    "Diga la tarea de otra manera, o use un modelo más fuerte.",
  ],
  STEP_LIMIT: ["La ejecución dio tantos pasos como puede.", "Divida la tarea, o suba --max-steps."],
  TOKEN_LIMIT: ["La ejecución usó tantos tokens como puede.", "Divida la tarea, o suba --max-tokens."],
  COST_LIMIT: [
    "La ejecución costó tanto como puede.",
    "Divida la tarea, nombre un modelo más barato con --model, o suba --max-cost.",
  ],
  THREAD_COST_LIMIT: [
    "La conversación costó tanto como puede.",
    "Empiece otra conversación, o suba max_thread_cost (--max-thread-cost); vea lo que costó: vidro runs usage --by thread",
  ],
  DAY_COST_LIMIT: [
    "Los modelos costaron hoy tanto como pueden.",
    "Siga después de la medianoche UTC, nombre un modelo que no cueste nada con --model, o suba max_day_cost y arranque el daemon otra vez; vea lo que se usó: vidro runs usage",
  ],
  TIME_LIMIT: ["La ejecución duró tanto como puede.", "Divida la tarea, o suba --max-minutes."],
  ACTION_LIMIT: ["La ejecución hizo tantas acciones como puede.", "Divida la tarea, o suba --max-actions."],
};
