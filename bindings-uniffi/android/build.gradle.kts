// The AAR: the sources of ../kotlin and the libraries that ../scripts/aar has built.

plugins {
    id("com.android.library") version "8.13.0"
    id("org.jetbrains.kotlin.android") version "2.4.20"
    id("maven-publish")
}

group = "dev.memdir"

version = "0.1.0"

layout.buildDirectory = file("../../target/android/gradle")

android {
    namespace = "dev.memdir"
    compileSdk = 36

    defaultConfig {
        minSdk = 26
        consumerProguardFiles("consumer-rules.pro")
    }

    compileOptions {
        sourceCompatibility = JavaVersion.VERSION_17
        targetCompatibility = JavaVersion.VERSION_17
    }

    sourceSets["main"].apply {
        kotlin.srcDirs("../kotlin/src/main/kotlin", "../kotlin/src/generated/kotlin")
        jniLibs.srcDirs("../../target/android/jniLibs")
    }

    publishing { singleVariant("release") { withSourcesJar() } }
}

kotlin {
    // Apps that use an older Kotlin compiler can still read the AAR, and get no newer standard library: as in ../kotlin.
    coreLibrariesVersion = "2.2.21"
    compilerOptions {
        jvmTarget = org.jetbrains.kotlin.gradle.dsl.JvmTarget.JVM_17
        languageVersion = org.jetbrains.kotlin.gradle.dsl.KotlinVersion.KOTLIN_2_2
        apiVersion = org.jetbrains.kotlin.gradle.dsl.KotlinVersion.KOTLIN_2_2
    }
}

dependencies {
    // Only JNA's AAR contains its native libraries for Android.
    api("net.java.dev.jna:jna:5.19.1@aar")
    implementation("org.jetbrains.kotlinx:kotlinx-coroutines-android:1.11.0")
    // Only for MemdirHandler. An app that uses it has the SDK as its own dependency.
    compileOnly("com.anthropic:anthropic-java-core:3.12.0")
}

publishing {
    publications {
        register<MavenPublication>("release") {
            artifactId = "memdir-android"
            afterEvaluate { from(components["release"]) }
        }
    }
}
