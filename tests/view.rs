//! The viewer's server and page: what it answers, and to whom.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use cullet::store::{LockMode, Manifest, Store, SurfaceFrame, parquet};
use serde_json::{Value, json};

use crate::external::check_arguments;
use crate::harness::TestFolder;

/// A bar that falls on a floor and breaks; its names are hostile.
const SHOT: &str = r#"
[time]
end = "2 ms"
frames_per_second = 2000
[[material]]
name = "<script>alert(1)</script>"
density = 1000
young = "10 MPa"
tensile_strength = "400 kPa"
shear_strength = "400 kPa"
[[body]]
name = "</script><img src=x onerror=alert(2)>"
material = "<script>alert(1)</script>"
shape = { type = "box", size = [0.04, 0.01, 0.01] }
packing = { type = "hexagonal", radius = "1 mm" }
position = [0, 0.01, 0]
velocity = [0, -8, 0]
[[collider]]
name = "floor"
shape = { type = "half_space", normal = [0, 1, 0] }
[[collider]]
name = "post"
shape = { type = "cylinder", radius = 0.002, height = 0.02 }
rotation = { axis = [1, 0, 0], angle = "90 deg" }
"#;

/// The shot, run to its surfaces.
fn broken_bar(place: &TestFolder) -> Store {
    let shot = place.write("shot.toml", SHOT).display().to_string();
    place.succeed(&["run", &shot, "--out", "bar", "--to", "reconstruct"]);
    Store::open(place.path("bar")).unwrap()
}

/// The server of `cullet view`, ended when it is dropped.
struct Served {
    child: Child,
    port: u16,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// An HTTP answer.
struct Received {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Received {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// Header of an answer with arrays.
    fn header(&self) -> Value {
        let length = u32::from_le_bytes(self.body[..4].try_into().unwrap()) as usize;
        serde_json::from_slice(&self.body[4..4 + length]).unwrap()
    }

    /// Bytes of an array.
    fn array(&self, name: &str) -> &[u8] {
        let length = u32::from_le_bytes(self.body[..4].try_into().unwrap()) as usize;
        let header = self.header();
        let arrays = header["arrays"].as_array().unwrap();
        let array = arrays.iter().find(|array| array["name"] == name).unwrap();
        let count = array["count"].as_u64().unwrap() * array["components"].as_u64().unwrap();
        let width = if array["type"].as_str().unwrap().ends_with("32") {
            4
        } else {
            1
        };
        let first = 4 + length + array["offset"].as_u64().unwrap() as usize;
        &self.body[first..first + count as usize * width]
    }

    fn floats(&self, name: &str) -> Vec<f32> {
        bytemuck::pod_collect_to_vec(self.array(name))
    }

    fn integers(&self, name: &str) -> Vec<u32> {
        bytemuck::pod_collect_to_vec(self.array(name))
    }
}

impl Served {
    fn of(place: &TestFolder, stores: &[&str]) -> Self {
        let mut command = place.command();
        command
            .args(["view", "--json"])
            .args(stores)
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let url: Value = serde_json::from_str(&line).unwrap();
        let url = url["url"].as_str().unwrap();
        let port = url
            .strip_prefix("http://127.0.0.1:")
            .unwrap()
            .trim_end_matches('/');
        let port = port.parse().unwrap();
        Served { child, port }
    }

    fn get(&self, path: &str) -> Received {
        self.ask(&format!(
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n",
            self.port
        ))
    }

    /// Sends a request line and headers.
    fn ask(&self, request: &str) -> Received {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream
            .write_all(format!("{request}Connection: close\r\n\r\n").as_bytes())
            .unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let split = bytes
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .unwrap();
        let head = String::from_utf8(bytes[..split].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Received {
            status,
            head,
            body: bytes[split + 4..].to_vec(),
        }
    }
}

#[test]
fn frames_and_surfaces_are_those_of_the_store() {
    let place = TestFolder::new();
    let store = broken_bar(&place);
    let served = Served::of(&place, &["bar"]);
    let overview = served.get("/api/stores").json();
    let described = &overview["stores"][0];
    assert_eq!(described["error"], Value::Null);
    assert_eq!(described["frames"], json!([0, 1, 2, 3, 4]));
    assert_eq!(described["surfaces"], described["frames"]);
    assert_eq!(
        described["times"][4],
        json!(store.read_history(4).unwrap().time[0])
    );
    assert_eq!(
        described["colliders"],
        json!([{ "name": "floor", "kind": "plane" }, { "name": "post", "kind": "mesh" }])
    );
    let frame = store
        .read_frame_with(4, &cullet::spec::FrameGroup::ALL)
        .unwrap();
    let answer = served.get("/api/stores/0/frames/4?columns=speed,fragment,use_of_strength");
    assert_eq!(answer.floats("x"), frame.x);
    assert_eq!(answer.integers("fragment"), frame.fragment);
    let speed = (frame.vx[7].powi(2) + frame.vy[7].powi(2) + frame.vz[7].powi(2)).sqrt();
    assert!((answer.floats("speed")[7] / speed - 1.0).abs() < 1e-6);
    let usage = answer.floats("use_of_strength");
    // An element is compared with its weakest bond, which need not be the one with the largest stress.
    assert!(
        usage.iter().all(|usage| (0.0..1.5).contains(usage))
            && usage.iter().any(|usage| *usage > 0.05)
    );
    let poses = &answer.header()["colliders"];
    assert!(
        (poses[1]["rotation"][0].as_f64().unwrap() - 0.5f64.sqrt()).abs() < 1e-12,
        "{poses}"
    );
    let surface = SurfaceFrame::read(&store, 4).unwrap();
    let answer = served.get("/api/stores/0/surfaces/4");
    let triangles = answer.integers("triangles");
    let vertices = answer.floats("position").len() as u32 / 3;
    assert_eq!(triangles.len(), 3 * surface.triangles.len());
    assert!(triangles.iter().all(|&vertex| vertex < vertices));
    let skin = surface.inside.iter().filter(|inside| **inside == 0).count();
    assert_eq!(answer.header()["skin"], json!(skin));
    assert!(skin < surface.triangles.len(), "it broke");
    let bonds = served.get("/api/stores/0/bonds").integers("frame");
    let broken = bonds.iter().filter(|frame| **frame != u32::MAX).count();
    assert_eq!(broken as u32, store.read_history(4).unwrap().broken[0]);
    let fragments = served.get("/api/stores/0/tables/fragments/4").json();
    assert_eq!(fragments["rows"], json!(surface.pieces.len()));
    let history = served.get("/api/stores/0/tables/history").json();
    assert_eq!(history["rows"], 5);
    let meshes = served.get("/api/stores/0/colliders").header();
    assert_eq!(
        meshes["meshes"][0]["plane"]["normal"],
        json!([0.0, 1.0, 0.0])
    );
    assert_eq!(meshes["meshes"][1]["first"], 0);
}

#[test]
fn other_hosts_methods_and_paths_are_refused() {
    let place = TestFolder::new();
    broken_bar(&place);
    let served = Served::of(&place, &["bar"]);
    let asked = |host: &str| {
        served
            .ask(&format!("GET /api/stores HTTP/1.1\r\nHost: {host}\r\n"))
            .status
    };
    assert_eq!(
        [asked("127.0.0.1:1"), asked("localhost:7"), asked("[::1]")],
        [200; 3]
    );
    assert_eq!(
        [
            asked("evil.example"),
            asked("127.0.0.1.evil.example"),
            asked("")
        ],
        [403; 3]
    );
    assert_eq!(served.ask("GET / HTTP/1.0\r\n").status, 403, "no host");
    let local = "Host: localhost\r\n";
    assert_eq!(
        served
            .ask(&format!("POST /api/stores HTTP/1.1\r\n{local}"))
            .status,
        405
    );
    for path in [
        "/../store.json",
        "/store.json",
        "/bar/store.json",
        "//etc/passwd",
        "/..%2f..%2fetc/passwd",
        "/api/stores/0/../../../bar/store.json",
        "/api/stores/0/tables/..%2fstore/0",
        "/api/stores/0/frames/../../store.json",
        "/api/stores/7/elements",
        "/api/stores/0/frames/4?columns=secret",
    ] {
        let answer = served.get(path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(
            answer.json()["error"]
                .as_str()
                .unwrap()
                .contains("no such address"),
            "{path}"
        );
    }
    let page = served.get("/");
    assert_eq!(page.status, 200);
    for header in [
        "Content-Security-Policy: default-src 'none'; script-src 'self'",
        "X-Content-Type-Options: nosniff",
        "Content-Type: text/html",
    ] {
        assert!(page.head.contains(header), "{}", page.head);
    }
    assert!(
        !page.head.to_lowercase().contains("access-control-allow"),
        "{}",
        page.head
    );
}

#[test]
fn no_other_machine_is_answered() {
    let place = TestFolder::new();
    broken_bar(&place);
    let served = Served::of(&place, &["bar"]);
    // The address by which others would reach this machine; no packet is sent to find it.
    let route = UdpSocket::bind("0.0.0.0:0").and_then(|socket| {
        socket.connect("192.0.2.1:9")?;
        socket.local_addr()
    });
    match route.map(|address| address.ip()) {
        Ok(IpAddr::V4(own)) if !own.is_loopback() && !own.is_unspecified() => {
            let address = SocketAddr::from((own, served.port));
            assert!(TcpStream::connect_timeout(&address, Duration::from_secs(5)).is_err());
        }
        _ => println!("skipped: this machine has no address but the loopback one"),
    }
}

#[test]
fn a_damaged_store_is_shown_as_far_as_it_can_be_read() {
    let place = TestFolder::new();
    let store = broken_bar(&place);
    let served = Served::of(&place, &["bar"]);
    let frame = store.numbered("frames", 3, "parquet");
    let whole = std::fs::read(&frame).unwrap();
    std::fs::write(&frame, &whole[..whole.len() / 2]).unwrap();
    let answer = served.get("/api/stores/0/frames/3");
    assert_eq!(answer.status, 500);
    let message = answer.json()["error"].as_str().unwrap().to_owned();
    assert!(message.contains("000003.parquet"), "{message}");
    assert_eq!(served.get("/api/stores/0/frames/4").status, 200);
    assert_eq!(
        served.get("/api/stores").json()["stores"][0]["error"],
        Value::Null
    );
    std::fs::write(store.path("store.json"), "{}").unwrap();
    let described = served.get("/api/stores").json();
    let message = described["stores"][0]["error"].as_str().unwrap();
    assert!(message.contains("store.json"), "{message}");
    assert_eq!(served.get("/").status, 200);
}

/// Takes from a packing what programs other than cullet may leave out.
fn make_foreign(store: &Store) {
    let packing = store.read_packing().unwrap();
    let elements = cullet::columns::Elements {
        material: Vec::new(),
        kind: Vec::new(),
        inertia: Vec::new(),
        ..packing.elements
    };
    let bonds = cullet::columns::Bonds {
        sigma_c: Vec::new(),
        tau_c: Vec::new(),
        ..packing.bonds
    };
    let change = |manifest: &mut Manifest| {
        manifest.files.clear();
        manifest.pipeline = None;
    };
    Manifest::update(store, change).unwrap();
    parquet::write(&store.path("packing/elements.parquet"), &elements).unwrap();
    parquet::write(&store.path("packing/bonds.parquet"), &bonds).unwrap();
}

#[test]
fn a_store_of_another_program_may_lack_materials_and_strengths() {
    let place = TestFolder::new();
    let store = broken_bar(&place);
    make_foreign(&store);
    let served = Served::of(&place, &["bar"]);
    let elements = served.get("/api/stores/0/elements");
    assert_eq!(elements.status, 200);
    let arrays = elements.header()["arrays"].to_string();
    assert!(!arrays.contains("material"), "{arrays}");
    let described = served.get("/api/stores").json();
    let columns = described["stores"][0]["columns"].to_string();
    assert!(
        columns.contains("sigma") && !columns.contains("material"),
        "{columns}"
    );
    assert_eq!(
        served.get("/api/stores/0/frames/2?columns=material").status,
        404
    );
    for path in [
        "frames/2?columns=use_of_strength,body",
        "bonds",
        "surfaces/2",
    ] {
        let answer = served.get(&format!("/api/stores/0/{path}"));
        assert_eq!(answer.status, 200, "{path}");
    }
}

#[test]
fn a_running_simulation_is_seen() {
    let place = TestFolder::new();
    let store = broken_bar(&place);
    let served = Served::of(&place, &["bar", "bar"]);
    let live = |served: &Served| served.get("/api/stores").json()["stores"][1]["live"].clone();
    assert_eq!(live(&served)["running"], false);
    let lock = store.lock(LockMode::Exclusive, "simulate").unwrap();
    for later in [4, 3] {
        store.remove_numbered("frames", later, "parquet").unwrap();
        store.remove_numbered("meshes", later, "rkyv").unwrap();
    }
    // A stage that starts forgets what it will write again.
    let is_later = |name: &str| name.contains("000003") || name.contains("000004");
    cullet::store::Manifest::update(&store, |manifest| manifest.forget(is_later)).unwrap();
    let seen = live(&served);
    assert_eq!(
        (&seen["running"], &seen["frames_left"]),
        (&json!(true), &json!(2.0))
    );
    assert!(seen["seconds_left"].as_f64().unwrap() > 0.0, "{seen}");
    drop(lock);
    assert_eq!(live(&served)["running"], false);
}

#[test]
fn wrong_use_is_refused() {
    let place = TestFolder::new();
    broken_bar(&place);
    assert!(
        place
            .refuse(&["view", "absent"])
            .contains("no frame store here")
    );
    let taken = Served::of(&place, &["bar"]);
    let message = place.refuse(&["view", "bar", "--port", &taken.port.to_string()]);
    assert!(message.contains("choose another by --port"), "{message}");
    let message = place.refuse(&["view", "bar", "--export", "page.html", "--frames", "7.."]);
    assert!(
        message.contains("neither surfaces nor elements"),
        "{message}"
    );
    assert!(!place.path("page.html").exists());
    assert_eq!(place.output(&["view"]).status.code(), Some(2));
    assert_eq!(
        place.output(&["view", "bar", "bar", "bar"]).status.code(),
        Some(2)
    );
}

/// The answer that a page holds for an address, as text.
fn record(page: &str, address: &str) -> String {
    let text = page.split(&format!("\"{address}\":\"")).nth(1).unwrap();
    let packed = BASE64_STANDARD
        .decode(text.split('"').next().unwrap())
        .unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(&packed[..])
        .read_to_string(&mut text)
        .unwrap();
    text
}

#[test]
fn a_page_of_its_own_has_the_frames_asked_for_and_no_name_as_markup() {
    let place = TestFolder::new();
    broken_bar(&place);
    place.succeed(&[
        "view",
        "bar",
        "--export",
        "page.html",
        "--frames",
        "2..4",
        "--quiet",
    ]);
    let page = std::fs::read_to_string(place.path("page.html")).unwrap();
    for address in [
        "/api/stores",
        "/api/stores/0/frames/2",
        "/api/stores/0/surfaces/3",
        "/api/stores/0/tables/history",
    ] {
        assert!(page.contains(&format!("\"{address}\":\"")), "{address}");
    }
    for absent in ["/api/stores/0/frames/4", "/api/stores/0/frames/1"] {
        assert!(!page.contains(absent), "{absent}");
    }
    // Names are in the records, where nothing is markup, and nowhere else.
    for hostile in ["onerror", "alert("] {
        assert!(!page.contains(hostile), "{hostile}");
        assert!(record(&page, "/api/stores").contains(hostile), "{hostile}");
    }
    let again = place.path("again.html");
    place.succeed(&[
        "view",
        "bar",
        "--export",
        "again.html",
        "--frames",
        "2..4",
        "--quiet",
    ]);
    assert!(
        page.as_bytes() == std::fs::read(&again).unwrap(),
        "the same bytes"
    );
    assert!(Path::new(&again).is_file());
}

#[test]
fn chromium_draws_and_follows_what_is_asked() {
    let place = TestFolder::new();
    let mut served = None;
    check_arguments("check_view.js", || {
        broken_bar(&place);
        let served = served.insert(Served::of(&place, &["bar"]));
        let url = format!("http://127.0.0.1:{}/", served.port);
        vec![url.into(), place.path("pictures")]
    });
}

#[test]
fn chromium_shows_a_store_of_another_program() {
    let place = TestFolder::new();
    let mut served = None;
    check_arguments("check_view.js", || {
        make_foreign(&broken_bar(&place));
        let served = served.insert(Served::of(&place, &["bar"]));
        let url = format!("http://127.0.0.1:{}/", served.port);
        vec![url.into(), place.path("pictures")]
    });
}

#[test]
fn chromium_shows_two_stores_side_by_side() {
    let place = TestFolder::new();
    let mut served = None;
    check_arguments("check_view.js", || {
        broken_bar(&place);
        let served = served.insert(Served::of(&place, &["bar", "bar"]));
        let url = format!("http://127.0.0.1:{}/", served.port);
        vec![url.into(), place.path("pictures"), "--store2".into()]
    });
}

#[test]
fn chromium_opens_a_page_of_its_own() {
    let place = TestFolder::new();
    check_arguments("check_view.js", || {
        broken_bar(&place);
        place.succeed(&["view", "bar", "--export", "page.html", "--quiet"]);
        let page = format!("file://{}", place.path("page.html").display());
        vec![page.into(), place.path("pictures"), "--recorded".into()]
    });
}
